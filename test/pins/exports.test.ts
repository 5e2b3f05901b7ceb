import { describe, expect, it } from 'vitest';
import * as library from '../../index.ts';

/** Kept by hand: a name that comes or goes is a decision, and an entry in the changelog. Types are pinned by docs/api.api.md. */
const NAMES = [
  'DEFAULT_LIMITS',
  'ERROR_CODES',
  'TaskTracker',
  'WorkflowError',
  'callKey',
  'canonicalOptions',
  'checkScript',
  'createAnthropicBackend',
  'createGitWorktrees',
  'createMcpTools',
  'createRunStore',
  'createScriptedBackend',
  'createSharedResults',
  'createSimulatedBackend',
  'createStreamJsonEmitter',
  'createTextEmitter',
  'createWorkflowTool',
  'isWorkflowError',
  'lastRunId',
  'listRuns',
  'loadHooks',
  'loadResponsesFile',
  'openProcessBackend',
  'parseScript',
  'projectStreamJson',
  'rehearseWorkflow',
  'renderTaskNotification',
  'resolveRunId',
  'resumeWorkflow',
  'runWorkflow',
  'startWorkflow',
];

describe('the public interface', () => {
  it('has these names and no others', () => {
    expect(Object.keys(library).sort()).toEqual([...NAMES].sort());
  });
});

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { readFrontMatter } from './front-matter.ts';
import { projectFolders } from './project-folders.ts';

/** A kind of subagent that `opts.agentType` can name. Source: spec A-28. */
export interface AgentType {
  readonly name: string;
  readonly description: string;
  /** Names of the tools it may use; undefined for all. */
  readonly tools?: readonly string[];
  /** Names of tools that it may not use, whatever `tools` says; undefined for none. */
  readonly disallowedTools?: readonly string[];
  /** Alias or id of a model; undefined for the default one. */
  readonly model?: string;
  /** Added to the system instructions; undefined for none. */
  readonly instructions?: string;
}

export type AgentTypes = ReadonlyMap<string, AgentType>;

const READ_ONLY_TOOLS = ['Read', 'Glob', 'Grep'];
/** Where types are looked for, below a project and below a home; a later folder overrides an earlier one. */
const FOLDERS = ['.claude/agents', '.codebuddy/agents', '.wf/agents'];

export const BUILT_IN_AGENT_TYPES: AgentTypes = mapOf([
  {
    name: 'general-purpose',
    description: 'Takes on any task, with every tool there is.',
  },
  {
    name: 'Explore',
    description: 'Looks things up in the files of the project without changing them.',
    tools: READ_ONLY_TOOLS,
    instructions:
      'You look things up in a code base and change nothing. Search wide first, by names and by contents, then read the places that matter. Report what you found with the path and the line of each finding, and say what you looked for in vain.',
  },
  {
    name: 'Plan',
    description: 'Works out how a change should be made, without making it.',
    tools: READ_ONLY_TOOLS,
    instructions:
      'You plan a change and do not make it. Read the code it touches before you decide anything. Give the steps in the order in which they should be done, each with the files it concerns, and name the risks and how each step can be checked.',
  },
]);

/**
 * Loads the agent types of a project and its user. Built-in types give way to the user's, and those to the project's, from its
 * root down to the working directory.
 *
 * @throws WorkflowError `FILE_UNREADABLE` when a file cannot be read; folders that do not exist count as empty
 */
export async function loadAgentTypes(places: { readonly cwd: string; readonly home: string }): Promise<AgentTypes> {
  const types = new Map(BUILT_IN_AGENT_TYPES);
  for (const root of new Set([places.home, ...(await projectFolders(places.cwd))])) {
    for (const folder of FOLDERS) {
      for (const type of await typesIn(path.join(root, folder))) types.set(type.name, type);
    }
  }
  return types;
}

/** Finds a type by its name. @throws WorkflowError `AGENT_TYPE_UNKNOWN`, naming those known */
export function findAgentType(types: AgentTypes, name: string | undefined): AgentType | undefined {
  if (name === undefined) return undefined;
  const type = types.get(name);
  if (type !== undefined) return type;
  const known = [...types.keys()].join(', ');
  throw new WorkflowError(
    'AGENT_TYPE_UNKNOWN',
    `There is no agent type "${name}". Known types: ${known}. Add one as ${FOLDERS.at(-1)}/${name}.md.`,
    { data: { known: [...types.keys()] } },
  );
}

async function typesIn(folder: string): Promise<readonly AgentType[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.md')).sort();
  return Promise.all(files.map((name) => typeIn(path.join(folder, name))));
}

async function typeIn(file: string): Promise<AgentType> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new WorkflowError('FILE_UNREADABLE', `The agent type in ${file} cannot be read (${error.code}).`, {
      cause: error,
    });
  });
  const { fields, body } = readFrontMatter(text);
  const tools = fields.get('tools');
  const disallowedTools = fields.get('disallowedTools');
  const model = fields.get('model')?.[0];
  const instructions = body.trim();
  return {
    name: fields.get('name')?.[0] ?? path.basename(file, '.md'),
    description: fields.get('description')?.join(', ') ?? '',
    ...(tools === undefined || tools.includes('*') ? {} : { tools }),
    ...(disallowedTools === undefined ? {} : { disallowedTools }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...(instructions === '' ? {} : { instructions }),
  };
}

function mapOf(types: readonly AgentType[]): AgentTypes {
  return new Map(types.map((type) => [type.name, type]));
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

describe('wf run with hooks in the settings of its project', () => {
  let place: Place;
  const log = (): string[] => {
    try {
      return readFileSync(join(place.root, 'work/hooks.log'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  const hook = (command: string): unknown => [{ hooks: [{ type: 'command', command }] }];
  beforeEach(() => {
    place = makePlace();
    place.put('flow.js', script(`return await agent('look')`));
    place.put('answers.json', { default: [{ tool: { name: 'Glob', input: { pattern: '*' } } }, { text: 'seen' }] });
    place.put('.claude/settings.json', {
      hooks: {
        SubagentStart: hook('echo start >> hooks.log'),
        PreToolUse: hook('echo pre >> hooks.log'),
        PostToolUse: hook('echo post >> hooks.log'),
        // The transcript as it stands when the hook runs.
        SubagentStop: hook(
          `node -e "const p=JSON.parse(require('fs').readFileSync(0,'utf8'));process.stdout.write(require('fs').readFileSync(p.agent_transcript_path,'utf8'))" > transcript.copy; echo stop >> hooks.log`,
        ),
      },
    });
  });
  afterEach(() => place.remove());

  it('they run around agents and tools, and not for a call that the journal answers (H-17, H-18)', async () => {
    const first = await place.run('run', 'flow.js', '--responses', 'answers.json');
    expect(first.exit, first.stderr).toBe(0);
    expect(log()).toEqual(['start', 'pre', 'post', 'stop']);
    const again = await place.run('resume', '--last', '--responses', 'answers.json');
    expect(again.stderr).toContain('1 of them cached');
    expect(log()).toHaveLength(4);
  });

  it('SubagentStop finds the whole transcript on the disk (H-19)', async () => {
    await place.run('run', 'flow.js', '--responses', 'answers.json');
    const [runId = ''] = place.runIds();
    const [file] = (await place.shell(`ls '${join(place.state, 'runs', runId, 'agents')}'/*.jsonl`)).stdout.split('\n');
    const seen = readFileSync(join(place.root, 'work/transcript.copy'), 'utf8');
    expect(seen).toBe(readFileSync(file ?? '', 'utf8'));
    expect(seen).toContain('"text":"seen"');
  });

  it('--no-hooks and "disableAllHooks" run none; a broken settings file is a note (H-18)', async () => {
    await place.run('run', 'flow.js', '--responses', 'answers.json', '--no-hooks');
    place.put('.wf/settings.json', '{ "hooks": ');
    const noted = await place.run('run', 'flow.js', '--responses', 'answers.json', '--no-hooks');
    expect(noted.exit).toBe(0);
    place.put('.wf/settings.json', { disableAllHooks: true });
    await place.run('run', 'flow.js', '--responses', 'answers.json');
    expect(log()).toEqual([]);
    place.put('.wf/settings.json', '{ "hooks": ');
    const broken = await place.run('run', 'flow.js', '--responses', 'answers.json');
    expect(broken.stderr).toMatch(/note: .*\.wf\/settings\.json is no valid JSON/);
    expect(broken.exit).toBe(0);
    expect(log()).toHaveLength(4);
  });
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makePlace, type Place, script } from './wf-process.ts';

const EXACT = { SERVICE_TOKEN: 'exact-value-of-a-token', DB_PASSWORD: 'correct horse battery' };
/** One of each known shape, put together here so that no scanner of this repository takes them for real. */
const SHAPES = [
  `sk-${'ant-api03-'}abcdefghijklmnopqrst`,
  `AKIA${'ABCDEFGHIJKLMNOP'}`,
  `ghp_${'a1b2c3d4e5f6g7h8i9j0k1l2'}`,
  `github_pat_${'a1b2c3d4e5f6g7h8i9j0k1l2'}`,
  `glpat-${'a1b2c3d4e5f6g7h8i9j0'}`,
  `xoxb-${'123456789012-abcdefghij'}`,
  `AIza${'SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q'}`,
  `npm_${'a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8'}`,
  `eyJ${'hbGciOiJIUzI1'}.eyJ${'zdWIiOiIxMjM0'}.c2lnbmF0dXJl`,
];
const SECRETS = [...Object.values(EXACT), ...SHAPES];
/** Whole on purpose: the author's script, and answers as a resumed run must see them again. */
const WHOLE = /(?:^|\/)(?:script\.js|journal\.jsonl|output\.json)$/;

let place: Place;
afterEach(() => place.remove());

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile());
}

/** Names of the secrets that a text holds. */
function found(text: string): readonly string[] {
  return SECRETS.filter((secret) => text.includes(secret));
}

/** A run in which secrets turn up everywhere: in prompts, labels, logs, tool calls, what tools print, and an agent's end. */
async function leakyRun(...flags: readonly string[]) {
  place = makePlace(EXACT);
  const all = SECRETS.join(' | ');
  place.put('keys.txt', `${all}\n`);
  place.put(
    'leak.js',
    script(
      `const all = ${JSON.stringify(all)};
       log('log ' + all); console.log('console ' + all); phase('phase');
       await agent('work with ' + all, { label: 'label' });
       await agent('DIE ' + all, { label: 'dies' });
       await parallel([() => { throw new Error('part ' + all) }]);
       return 'done'`,
    ),
  );
  const tool = (name: string, input: unknown) => ({ tool: { name, input } });
  place.put('r.json', {
    rules: [{ match: 'DIE', reply: [{ error: { status: 400, message: `refused ${all}` } }] }],
    default: [
      {
        blocks: [
          { text: `thinking of ${all}` },
          tool('Read', { file_path: 'keys.txt' }),
          tool('Bash', { command: `cat keys.txt; seq 1 9000; cat keys.txt; echo '${all}'` }),
          tool('Write', { file_path: 'made.txt', content: all }),
          tool('Grep', { pattern: 'exact' }),
        ],
      },
      { text: `answer ${all}` },
    ],
  });
  const { stdout, stderr } = await place.run(
    'run',
    'leak.js',
    '--responses',
    'r.json',
    '--permission-mode',
    'bypassPermissions',
    ...flags,
  );
  return { stdout, stderr };
}

describe('secrets of known shapes and of the environment', () => {
  it('are in no file that a run leaves but the script and the answers, whatever agents and tools print (A-32)', async () => {
    await leakyRun();
    const files = filesBelow(place.state).filter((file) => !WHOLE.test(file));
    const names = files.map((file) => file.slice(file.indexOf('/runs/')));
    for (const kind of [
      /events\.ndjson$/,
      /run\.json$/,
      /\.meta\.json$/,
      /agents\/a[0-9a-f]+\.jsonl$/,
      /bash-[0-9a-f]+\.txt$/,
    ])
      expect(
        names.some((name) => kind.test(name)),
        String(kind),
      ).toBe(true);
    const kept = files.filter((file) => /bash-[0-9a-f]+\.txt$/.test(file)).map((file) => readFileSync(file, 'utf8'));
    expect(kept.join('')).toContain('[REDACTED]');
    const leaks = files.flatMap((file) => found(readFileSync(file, 'utf8')).map((secret) => [file, secret]));
    expect(leaks).toEqual([]);
    // Only the owner may read what is left whole.
    for (const file of filesBelow(join(place.state, 'runs'))) expect(statSync(file).mode & 0o077, file).toBe(0);
  });

  it('are not in the file of --record, which still answers the same prompts (A-32, C-12)', async () => {
    await leakyRun('--record', 'recorded.json');
    const recorded = readFileSync(join(place.root, 'work/recorded.json'), 'utf8');
    expect(found(recorded)).toEqual([]);
    expect(found(recorded.replaceAll('\\\\', ''))).toEqual([]);
    const again = await place.run('run', 'leak.js', '--responses', 'recorded.json', '--output-format', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'completed',
      census: { agents_done: 1, agents_error: 1 },
    });
  });

  it.each([
    ['text', []],
    ['stream-json of claude', ['--output-format', 'stream-json', '--no-include-source']],
    ['stream-json of cbc', ['--output-format', 'stream-json', '--dialect', 'cbc', '--no-include-source']],
    ['json', ['--output-format', 'json']],
  ])('are not shown as %s (A-32)', async (_, flags) => {
    const { stdout, stderr } = await leakyRun(...flags);
    expect(stdout.length).toBeGreaterThan(3);
    expect([found(stdout), found(stderr)]).toEqual([[], []]);
  });

  it.each(['text', 'json', 'stream-json'])(
    'what a script throws is shown without them, in %s (A-32)',
    async (format) => {
      place = makePlace(EXACT);
      place.put('answers.json', { default: [{ text: SECRETS.join(' ') }] });
      place.put('throws.js', script(`throw new Error('it said ' + (await agent('say')))`));
      const { exit, stderr } = await place.run(
        'run',
        'throws.js',
        '--responses',
        'answers.json',
        '--output-format',
        format,
      );
      expect(exit).toBe(1);
      expect(stderr).toContain('it said [REDACTED]');
      expect(found(stderr)).toEqual([]);
    },
  );
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSimulatedBackend } from '../../../../agents/simulated/simulated-backend.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import type { AgentBackend, AgentRequest } from '../../../../runtime/ports.ts';
import { runWorkflow, type WorkflowResult } from '../../../../runtime/run-workflow.ts';
import { checkScript } from '../../../../runtime/script/check-script.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';
import { answeringBackend } from '../../../support/answering-backend.ts';
import { temporaryStore } from '../../../support/temporary-store.ts';

const folder = join(import.meta.dirname, '../../../../hosts/saved-workflows/built-in');
const names = readdirSync(folder).map((file) => file.replace(/\.js$/, ''));
const store = temporaryStore();
const down = (): Error => new WorkflowError('AGENT_API', 'down');

function run(
  name: string,
  args: unknown,
  backend: AgentBackend,
  budget: number | null = null,
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of what it looks at
): Promise<WorkflowResult & { readonly result: any }> {
  const script = readFileSync(join(folder, `${name}.js`), 'utf8');
  const argsJson = args === undefined ? undefined : JSON.stringify(args);
  return runWorkflow({ store, backend, script, fileName: `${name}.js`, argsJson, limits: { budget } });
}

/** Answers by the beginning of an agent's label. The longest that fits counts; a function gets the request. */
function byLabel(answers: Readonly<Record<string, unknown>>) {
  return answeringBackend((request) => {
    const fits = Object.keys(answers).filter((start) => request.label.startsWith(start));
    const best = fits.sort((a, b) => b.length - a.length)[0] ?? '';
    const answer = answers[best];
    return typeof answer === 'function' ? (answer as (asked: AgentRequest) => unknown)(request) : answer;
  });
}

describe('every built-in workflow', () => {
  it('is named like its file, says when to use it, and has phases (H-22)', () => {
    expect(names.sort()).toEqual(['deep-research', 'review']);
    for (const name of names) {
      const { meta } = parseScript(readFileSync(join(folder, `${name}.js`), 'utf8'), { fileName: name });
      expect(meta.name).toBe(name);
      expect(meta.whenToUse).toMatch(/args/);
      expect(meta.phases?.length).toBe(4);
    }
  });

  it.each(names)('%s passes wf check without a warning (H-22, C-3)', (name) => {
    const script = parseScript(readFileSync(join(folder, `${name}.js`), 'utf8'), { fileName: name });
    expect([...script.warnings, ...checkScript(script)]).toEqual([]);
  });

  it.each(names.flatMap((name) => ['quick', 'standard', 'thorough'].map((depth) => [name, depth] as const)))(
    '%s at depth %s completes with simulated agents, within 250, each in a declared phase (H-22)',
    async (name, depth) => {
      const args = { ...(name === 'review' ? { target: 'src' } : { question: 'Why is the sky blue?' }), depth };
      const { output, result } = await run(name, args, createSimulatedBackend());
      expect(output).toMatchObject({ status: 'completed', failures: [], limits_hit: [] });
      expect(output.logs.filter(({ level }) => level !== 'info')).toEqual([]);
      expect(output.census.agent_count).toBeGreaterThan(5);
      expect(output.census.agent_count).toBeLessThan(250);
      expect(result.depth).toBe(depth);
    },
  );

  it.each(names)('%s goes on after its end without asking anybody again (H-22, R-8)', async (name) => {
    const backend = createSimulatedBackend();
    const first = await run(name, 'the whole repository', backend);
    const again = await runWorkflow({ store, backend, runId: first.runId });
    expect(again.result).toEqual(first.result);
    expect(again.output.census.agents_cached).toBe(first.output.census.agent_count);
  });

  it.each(names)('%s completes when nobody answers, and claims nothing (H-22, A-3)', async (name) => {
    const { output, result } = await run(name, 'anything', answeringBackend(down));
    expect(output.status).toBe('completed');
    expect(result.dropped.length).toBe(output.census.agents_error);
    expect(JSON.stringify(result)).toMatch(/this says nothing about/);
  });

  it.each(names)('%s completes when every answer is refused, and says so (H-22, A-4)', async (name) => {
    const refuse = () => new WorkflowError('AGENT_OUTPUT_INVALID', 'five answers in a row were wrong');
    const { output, result } = await run(name, 'anything', answeringBackend(refuse));
    expect(output.status).toBe('completed');
    expect(result.dropped[0]).toMatch(/five answers in a row/);
  });

  it.each(names)(
    '%s keeps to a budget that ends in the midst of it, and returns what it has (H-22, A-16)',
    async (name) => {
      const { output, result } = await run(name, 'anything', createSimulatedBackend(), 900);
      expect(output).toMatchObject({ status: 'completed', limits_hit: ['LIMIT_BUDGET'] });
      expect(result.dropped.length).toBeGreaterThan(0);
    },
  );

  it.each([
    ['review', { targt: 'src' }, 'review has no arg "targt"; it takes target, focus, depth'],
    ['review', { target: 'src', depth: 'zzz' }, 'review has no depth "zzz"; it takes quick, standard, thorough'],
    ['deep-research', { question: 'q', dept: 1 }, 'deep-research has no arg "dept"; it takes question, context, depth'],
    ['deep-research', { question: 'q', depth: 7 }, 'deep-research has no depth 7; it takes quick, standard, thorough'],
  ])('%s refuses the args %j before anybody is asked (H-22)', async (name, args, message) => {
    const { output } = await run(name, args, answeringBackend(down));
    expect(output.error?.message).toContain(message);
    expect(output.census.agent_count).toBe(0);
  });
});

describe('deep-research', () => {
  const finding = (claim: string, location: string) => ({
    claim,
    quote: `says ${claim}`,
    title: `T ${location}`,
    location,
  });
  const verdict = (word: string) => ({ verdict: word, reason: `it is ${word}`, evidence: 'e' });
  const plan = { understanding: 'u', parts: [{ question: 'part one', hints: 'h' }] };
  const good = {
    plan,
    search: { findings: [], gaps: [] },
    'search 1.1': { findings: [finding('A', 'http://a'), finding('B', 'http://b')], gaps: ['no data on C'] },
    'search 1.2': { findings: [finding('A again', 'HTTP://A ')], gaps: [] },
    what: { parts: [] },
    merge: {
      claims: [
        { claim: 'A', from: [0, 2, 2, 99] },
        { claim: 'B', from: [1] },
      ],
    },
    check: verdict('unclear'),
    'check 1.': verdict('supported'),
    'check 2.1': verdict('contradicted'),
    'check 2.2': verdict('unclear'),
    report: { answer: 'It is A.', report: 'A holds [1].', openQuestions: ['why?'] },
  };

  it('merges what searchers found, numbers sources by place, and judges each claim by its checkers (H-22)', async () => {
    const { result } = await run('deep-research', { question: ' Is it A? ', context: { team: 'x' } }, byLabel(good));
    expect(result).toMatchObject({
      question: 'Is it A?',
      answer: 'It is A.',
      report: 'A holds [1].',
      sources: [
        { id: 1, location: 'http://a' },
        { id: 2, location: 'http://b' },
      ],
      claims: [
        { claim: 'A', status: 'confirmed', sources: [1] },
        { claim: 'B', status: 'refuted', sources: [2] },
      ],
      openQuestions: ['why?', 'no data on C'],
      caveats: [],
      dropped: [],
    });
  });

  it('what a checker is told has the sources and no verdict of another (H-22)', async () => {
    const backend = byLabel(good);
    await run('deep-research', 'Is it A?', backend);
    const checks = backend.asked.filter((prompt) => prompt.startsWith('Check one claim'));
    expect(checks).toHaveLength(4);
    expect(new Set(checks).size).toBe(4);
    for (const prompt of checks) expect(prompt).not.toMatch(/it is (supported|contradicted|unclear)/);
    expect(checks[0]).toContain('http://a');
  });

  it.each([
    [['supported', 'supported'], 'confirmed'],
    [['supported', 'unclear'], 'confirmed'],
    [['supported', 'contradicted'], 'disputed'],
    [['unclear', 'contradicted'], 'refuted'],
    [['unclear', 'unclear'], 'unclear'],
    [['supported', null], 'confirmed'],
    [[null, null], 'unchecked'],
  ])('verdicts %j make a claim %s (H-22)', async (words, status) => {
    const answers = words.map((word) => (word === null ? down : verdict(word)));
    const { result } = await run(
      'deep-research',
      'q',
      byLabel({ ...good, 'check 1.1': answers[0], 'check 1.2': answers[1] }),
    );
    expect(result.claims[0].status).toBe(status);
  });

  it.each([
    ['cites a source that does not exist', 'A holds [1][7].'],
    ['cites nothing', 'A holds.'],
  ])('a report that %s is written once more (H-22)', async (fault, report) => {
    const wrong = { ...good.report, report };
    const backend = byLabel({ ...good, report: wrong, 'report, citations mended': good.report });
    const mended = await run('deep-research', 'q', backend);
    expect(mended.result).toMatchObject({ report: 'A holds [1].', caveats: [] });
    expect(backend.asked.at(-1)).toContain(`There are sources 1 to 2. The earlier version: ${report}`);
    const left = await run('deep-research', 'q', byLabel({ ...good, report: wrong }));
    expect([fault, left.result.caveats]).toEqual([fault, [expect.stringMatching(/cites (7|no source)/)]]);
  });

  it('goes on without a plan, without merging and without a writer, and says so (H-22)', async () => {
    const answers = { ...good, plan: down, merge: down, report: down };
    const { result } = await run('deep-research', 'Is it A?', byLabel(answers));
    expect(result.answer).toBeNull();
    expect(result.report).toMatch(/^# Is it A\?\n\n- A \[1\]/);
    expect(result.claims.map(({ claim }: { claim: string }) => claim)).toEqual(['A', 'B', 'A again']);
    expect(result.dropped).toEqual(['plan: the agent died', 'merge claims: the agent died', 'report: the agent died']);
    expect(result.caveats.join()).toMatch(/Nobody wrote the report/);
  });

  it('searches further for what is missing, in bounded rounds (H-22)', async () => {
    const more = { parts: [{ question: 'part two', hints: '' }] };
    const backend = byLabel({ ...good, what: more, 'search 2.1': { findings: [finding('D', 'd')], gaps: [] } });
    const { result } = await run('deep-research', { question: 'q', depth: 'standard' }, backend);
    expect(backend.asked.filter((prompt) => prompt.startsWith('Research one part'))).toHaveLength(4);
    expect(backend.asked.filter((prompt) => prompt.startsWith('Decide what is still missing'))).toHaveLength(1);
    expect(result.dropped).toEqual(['1 of 4 findings: left out when claims were merged']);
  });

  it('tells a search in vain from searchers that died (H-22)', async () => {
    const { result } = await run(
      'deep-research',
      'q',
      byLabel({ plan, search: { findings: [], gaps: ['all'] }, what: { parts: [] } }),
    );
    expect(result).toMatchObject({
      answer: null,
      openQuestions: ['all'],
      report: expect.stringMatching(/^Nothing that answers/),
    });
  });

  it.each([[undefined], [null], ['  '], [[]], [{}], [{ question: 5 }]])(
    'without a question, as with args %j, it says what to give before anybody is asked (H-22)',
    async (args) => {
      const { output } = await run('deep-research', args, answeringBackend());
      expect(output.error?.message).toMatch(/needs a question: pass it as args/);
      expect(output.census.agent_count).toBe(0);
    },
  );
});

describe('review', () => {
  const finding = (title: string, severity: string, line = 3) => ({
    ...{ title, file: 'a.ts', line, severity },
    ...{ scenario: `when ${title}`, fix: 'mend it' },
  });
  const vote = (word: string, severity = 'medium') => ({
    verdict: word,
    severity,
    reason: `it is ${word}`,
    evidence: 'a.ts:3',
  });
  const good = {
    scope: { summary: 's', files: [{ path: 'a.ts', why: 'w' }], conventions: 'c' },
    find: { findings: [] },
    'find 1: correctness': { findings: [finding('Off by one', 'medium'), finding('Odd name', 'low', 9)] },
    'find 1: tests': { findings: [finding('off by ONE!', 'medium')] },
    'find 1: security': { findings: [finding('Index overflow', 'high', 4), finding('Path escape', 'critical', 7)] },
    merge: { groups: [[0, 2, 2, 50]] },
    sceptic: vote('stands'),
    'sceptic 1 on 1': vote('stands', 'critical'),
    'sceptic 2 on 1': vote('stands', 'high'),
    'sceptic 1 on 3': vote('refuted'),
    'sceptic 2 on 3': vote('refuted'),
    summary: 'Mend 1 first.',
  };

  it('merges the same defect from several angles, drops what sceptics refute, and ranks the rest (H-22)', async () => {
    const { result } = await run('review', 'src/a.ts', byLabel(good));
    expect(result.findings).toMatchObject([
      {
        rank: 1,
        title: 'Path escape',
        status: 'confirmed',
        severity: 'high',
        claimedSeverity: 'critical',
        foundBy: ['security'],
      },
      {
        rank: 2,
        title: 'Off by one',
        severity: 'medium',
        claimedSeverity: 'high',
        foundBy: ['correctness', 'tests', 'security'],
      },
    ]);
    expect(result.refuted).toEqual([
      { title: 'Odd name', file: 'a.ts', line: 9, why: ['it is refuted', 'it is refuted'] },
    ]);
    expect(result).toMatchObject({ verdict: 'must be mended', summary: 'Mend 1 first.', dropped: [], notReviewed: [] });
  });

  it('a sceptic is told the claim, and neither who made it nor what another sceptic said (H-22)', async () => {
    const backend = byLabel(good);
    await run('review', 'src/a.ts', backend);
    const tried = backend.asked.filter((prompt) => prompt.startsWith('A reviewer claims'));
    expect(tried).toHaveLength(6);
    expect(new Set(tried).size).toBe(6);
    for (const prompt of tried) expect(prompt).not.toMatch(/foundBy|it is (stands|refuted)/);
  });

  it.each([
    [['stands', 'stands'], 'confirmed', 'must be mended'],
    [['stands', 'unsure'], 'confirmed', 'must be mended'],
    [['stands', 'refuted'], 'disputed', 'needs a look'],
    [['unsure', 'unsure'], 'disputed', 'needs a look'],
    [['refuted', 'unsure'], undefined, 'nothing stands'],
    [[null, null], 'unchecked', 'needs a look'],
  ])('votes %j make a finding %s and the verdict %s (H-22)', async (words, status, verdict) => {
    const [first, second] = words.map((word) => (word === null ? down : vote(word, 'high')));
    const { result } = await run(
      'review',
      { target: { pr: 7 }, depth: 'standard' },
      byLabel({
        scope: good.scope,
        find: { findings: [] },
        'find 1: security': { findings: [finding('X', 'high')] },
        'sceptic 1': first,
        'sceptic 2': second,
        summary: 's',
      }),
    );
    expect([result.findings[0]?.status, result.verdict, result.target]).toEqual([status, verdict, '{"pr":7}']);
  });

  it('says which angles nobody reviewed, and writes its own summary where nobody does (H-22)', async () => {
    const answers = { ...good, scope: down, 'find 1: contracts': down, merge: down, summary: down };
    const { result } = await run('review', 'src', byLabel(answers));
    expect(result.notReviewed).toEqual(['contracts']);
    expect(result.summary).toMatch(/^4 findings: /);
    expect(result.dropped).toEqual(expect.arrayContaining(['scope: the agent died', 'summary: the agent died']));
  });

  it('looks again until a round brings nothing new, at most three times (H-22)', async () => {
    const backend = byLabel({ ...good, 'find 2: tests': { findings: [finding('New one', 'low', 90)] } });
    const { result } = await run('review', { target: 'src', depth: 'thorough' }, backend);
    expect(result.rounds).toBe(3);
    const again = backend.asked.filter((prompt) => prompt.includes('Reported already'));
    expect(again).toHaveLength(12);
    expect(again[0]).toContain('a.ts:3 Off by one');
  });

  it('ends after the first agent where there is nothing to review, and says what that agent saw (H-22)', async () => {
    const scope = { summary: 'No srcc is here.', files: [], conventions: '' };
    const { output } = await run('review', 'srcc', byLabel({ ...good, scope }));
    expect(output.error?.message).toMatch(
      /nothing to review: .* srcc names no file\. It says: No srcc is here\. Name a path/,
    );
    expect(output.census.agent_count).toBe(1);
  });

  it('finds nothing honestly: how many angles were looked at (H-22)', async () => {
    const { result } = await run(
      'review',
      undefined,
      byLabel({ scope: good.scope, find: { findings: [] }, 'find 1: tests': down }),
    );
    expect(result).toMatchObject({
      verdict: 'nothing found',
      summary: 'No defect was found from 5 of 6 angles.',
      notReviewed: ['tests'],
      target: expect.stringMatching(/^the uncommitted changes/),
    });
  });

  it('agents may not edit what they review (H-22)', async () => {
    const asked: AgentRequest[] = [];
    const inner = byLabel(good);
    await run('review', 'src', {
      ...inner,
      run(request, signal, report) {
        asked.push(request);
        return inner.run(request, signal, report);
      },
    });
    for (const { options } of asked) expect(options.disallowedTools).toEqual(['Edit', 'Write']);
  });
});

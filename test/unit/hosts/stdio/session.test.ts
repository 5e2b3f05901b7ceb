import { describe, expect, it } from 'vitest';
import { createSessionHooks } from '../../../../hosts/stdio/session-hooks.ts';
import { answeringBackend, silence } from '../../../support/answering-backend.ts';
import {
  type InProcessSession,
  openInProcessSession,
  plannedModel,
  type SessionLine,
} from '../../../support/in-process-session.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { hookBench } from '../../agents/hooks/hook-bench.ts';

const QUICK = "return { got: args, said: await agent('hi') }";
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const of = ({ lines }: InProcessSession, type: string, subtype?: string): readonly SessionLine[] =>
  lines.filter((line) => line.type === type && (subtype === undefined || line.subtype === subtype));
const user = (content: string): string => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`;

/** Nothing is lost and nothing said twice: a `result` a turn, and one notification a task. */
function expectWhole(session: InProcessSession): void {
  const inits = of(session, 'system', 'init').length;
  expect(of(session, 'result')).toHaveLength(inits);
  const started = of(session, 'system', 'task_started').map((line) => line['task_id']);
  const told = of(session, 'system', 'task_notification').map((line) => line['task_id']);
  expect(told.toSorted()).toEqual(started.toSorted());
}

describe('a client of the stdio host that does not behave', () => {
  it('may close its end at any moment: what it had asked is done and told (H-8)', async () => {
    const whole = [
      '{"type":"control_request","request_id":"i","request":{"subtype":"initialize"}}\n',
      user('/quick 1'),
      '{"type":"control_request","request_id":"x","request":{"subtype":"interrupt","session_id":"another"}}\n',
      user('/quick 2'),
    ];
    const text = whole.join('');
    const cuts = [
      0,
      30,
      whole[0]?.length ?? 0,
      text.indexOf('/quick 1'),
      text.indexOf('/quick 1') + 12,
      text.length - 1,
      text.length,
    ];
    const asked = [0, 0, 0, 0, 1, 2, 2];
    const sessions = cuts.map((cut) => {
      const session = openInProcessSession({ workflows: { quick: QUICK } });
      session.input.end(text.slice(0, cut));
      return session;
    });
    await Promise.all(sessions.map(({ over }) => over));
    for (const session of sessions) expectWhole(session);
    // The end of a workflow has a turn of its own.
    expect(sessions.map((session) => of(session, 'result').length)).toEqual(asked.map((turns) => turns * 2));
  });

  it('may stop reading: what waits stays small, and when it reads again it has every critical line (H-8, E-9, E-3)', async () => {
    const many = "await parallel(Array.from({ length: 100 }, (_, i) => () => agent('q' + i))); return 'all'";
    const session = openInProcessSession({ workflows: { many }, reads: 3 });
    for (let n = 0; n < 2; n++) session.say('/many');
    session.input.end();
    let isOver = false;
    void session.over.then(() => {
      isOver = true;
    });
    await waitUntil(() => session.ended() === 2);
    expect([isOver, session.lines.length]).toEqual([false, 3]);
    // One line beyond the mark of the stream; all else is the writer's to keep or to drop.
    expect(session.unread()).toBeLessThan(64 * 1024);
    session.read(Number.POSITIVE_INFINITY);
    await session.over;
    expectWhole(session);
    expect(of(session, 'system', 'task_notification').map((line) => line['status'])).toEqual(
      Array(2).fill('completed'),
    );
    expect(of(session, 'result')).toHaveLength(4);
  });

  it('may hang up in the middle of a run: the run goes on to its end (H-8, E-3)', async () => {
    const gate = Promise.withResolvers<string>();
    const backend = answeringBackend(() => gate.promise);
    const session = openInProcessSession({ workflows: { quick: QUICK }, backend });
    session.say('/quick');
    session.input.end();
    await waitUntil(() => backend.asked.length > 0);
    session.hangUp();
    gate.resolve('after all');
    await session.over;
    expect(backend.asked).toEqual(['hi']);
  });

  it('may send JSON of any depth: it is skipped, answered, or refused with a way out (H-6, C-10)', async () => {
    const session = openInProcessSession({ workflows: { quick: QUICK } });
    for (const levels of [1_001, 5_000, 100_000]) {
      const deep = nested(levels);
      session.input.write(`{"type":"user","message":{"role":"user","content":${deep}}}\n`);
      session.input.write(
        `{"type":"control_request","request_id":"${levels}","request":{"subtype":"x","y":${deep}}}\n`,
      );
      session.say(`/quick ${deep}`);
    }
    session.say(`/quick ${nested(900)}`);
    session.input.end();
    await session.over;
    expectWhole(session);
    expect(session.notes).toEqual(Array(3).fill(expect.stringMatching(/skipped: .*1,000 levels deep/)));
    const errors = of(session, 'control_response').map((line) => (line['response'] as { error: string }).error);
    expect(errors).toEqual(Array(3).fill(expect.stringMatching(/1,000 levels deep\. Send a flatter one/)));
    const texts = of(session, 'result').map((line) => String(line['result']));
    expect(texts.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/Give flatter JSON.*\[USAGE_INVALID\]/)));
    expect(texts.at(-1)).toContain(nested(900));
  });

  it('two sessions side by side: an interrupt of one leaves the other alone (E-11)', async () => {
    const backend = answeringBackend(silence);
    const [one, other] = [1, 2].map(() =>
      openInProcessSession({ workflows: { slow: "return agent('wait')" }, backend }),
    );
    if (one === undefined || other === undefined) throw new Error('there are two');
    for (const session of [one, other]) session.say('/slow');
    await waitUntil(() => backend.asked.length === 2);
    await waitUntil(() => [one, other].every((session) => of(session, 'result').length === 1));
    one.input.write('{"type":"control_request","request_id":"s","request":{"subtype":"interrupt"}}\n');
    one.input.end();
    await one.over;
    expect(of(one, 'system', 'task_notification')).toMatchObject([{ status: 'stopped' }]);
    expect(of(other, 'system', 'task_notification')).toEqual([]);
    other.input.write('{"type":"control_request","request_id":"s","request":{"subtype":"interrupt"}}\n');
    other.input.end();
    await other.over;
    expectWhole(other);
  });
});

describe('the hooks of a session', () => {
  it('SessionStart adds to the first message, Stop sends the turn on with its reason, once (H-17, H-18)', async () => {
    const bench = hookBench(
      { event: 'SessionStart', command: 'echo "the house rules"' },
      {
        event: 'Stop',
        command: `cat > stop.json; grep -q '"stop_hook_active":true' stop.json || { echo 'say it louder' >&2; exit 2; }`,
      },
    );
    const warned: string[] = [];
    const place = { sessionId: 'test-session', cwd: bench.cwd, warn: (text: string) => void warned.push(text) };
    const told: string[] = [];
    const model = plannedModel((text) => {
      told.push(text);
      return text.includes('louder') ? 'HELLO' : 'hello';
    });
    const hooks = createSessionHooks(bench.hooks, place, bench.controller.signal);
    const session = openInProcessSession({ workflows: {}, model, hooks });
    session.say('greet me');
    session.say('again');
    session.input.end();
    await session.over;
    expect(told).toEqual(['the house rules\n\ngreet me', 'say it louder', 'again', 'say it louder']);
    expect(of(session, 'result').map((line) => line['result'])).toEqual(['HELLO', 'HELLO']);
    expect(JSON.parse(bench.read('stop.json'))).toMatchObject({
      hook_event_name: 'Stop',
      session_id: 'test-session',
      last_assistant_message: 'HELLO',
      stop_hook_active: true,
    });
    expect(warned).toEqual([]);
  });
});

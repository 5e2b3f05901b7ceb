/** A message of the SDK, or a line of the host. */
export type SdkMessage = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly subtype?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  readonly [field: string]: any;
};

/** One thing that the client did, and what came of it. */
interface Step {
  readonly client: string;
  readonly conversation: SdkMessage[];
  /** By their ids. */
  readonly tasks: Map<string, SdkMessage[]>;
}

/**
 * What a client saw, written so that two runs of the same program give the same text: per step first the messages of the
 * conversation, then those of each task (of its progress the last line), without ids, times, prices and paths of the machine.
 */
export class Transcript {
  readonly #folder: string;
  readonly #steps: Step[] = [];
  readonly #all: SdkMessage[] = [];
  #waiters: (() => void)[] = [];

  /** @param folder every path in it is shown as `…` */
  constructor(folder: string) {
    this.#folder = folder;
  }

  step(client: string): void {
    this.#steps.push({ client, conversation: [], tasks: new Map() });
  }

  take(message: SdkMessage): void {
    this.#all.push(message);
    const step = this.#steps.at(-1);
    const taskId = message['task_id'];
    if (typeof taskId !== 'string') step?.conversation.push(message);
    else step?.tasks.set(taskId, [...(step.tasks.get(taskId) ?? []), message]);
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves with the first true value. */
  async until<T>(look: () => T): Promise<NonNullable<T>> {
    for (;;) {
      const found = look();
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
  }

  /** Turns that told of the end of a workflow. */
  get followUps(): number {
    return this.#all.filter(({ type, origin }) => type === 'result' && origin?.kind === 'task-notification').length;
  }

  get ends(): number {
    return this.#all.filter(({ subtype }) => subtype === 'task_notification').length;
  }

  get taskKinds(): readonly (string | undefined)[] {
    return this.#all.filter((message) => 'task_id' in message).map(({ subtype }) => subtype);
  }

  /** The task of a workflow, once an agent of that label is at work. */
  workingTask(workflow: string, label: string): string | undefined {
    const started = this.#all.find((message) => message['workflow_name'] === workflow)?.['task_id'];
    const shows = this.#all.some(
      (message) =>
        message['task_id'] === started &&
        JSON.stringify(message).includes(label) &&
        message.subtype === 'task_progress',
    );
    return shows ? started : undefined;
  }

  toText(): string {
    const rows = this.#steps.flatMap(({ client, conversation, tasks }) => [
      { client },
      ...conversation.filter(({ subtype }) => subtype !== 'background_tasks_changed'),
      ...[...tasks.values()].sort(byWorkflow).flatMap((lines) => {
        const last = lines.findLast(({ subtype }) => subtype === 'task_progress');
        return lines.filter((line) => line.subtype !== 'task_progress' || line === last);
      }),
    ]);
    return this.#plain(rows.map((row) => `${JSON.stringify(row, withoutChanging)}\n`).join(''));
  }

  #plain(text: string): string {
    return numbered(
      numbered(text.replaceAll(this.#folder, '…'), /\btoolu_\w+/g, 'toolu_'),
      /\bwf_[0-9a-f]{8}-[0-9a-f]{3}/g,
      'wf_',
    )
      .replace(/\bmsg_\w+/g, 'msg_…')
      .replace(/\bin \d[\d.]* (?:ms|s|min)\b/g, 'in 0 ms')
      .replace(/<duration_ms>\d+/g, '<duration_ms>0')
      .replace(/<cost_usd>[\d.]+/g, '<cost_usd>0')
      .replace(/\$\d+(?:\.\d+)?/g, '$0');
  }
}

/** Tasks run side by side, so the order of their starts is none. */
function byWorkflow([left]: readonly SdkMessage[], [right]: readonly SdkMessage[]): number {
  return String(left?.['workflow_name']).localeCompare(String(right?.['workflow_name']));
}

/** Times, and prices, which change. */
const CHANGING = /(?:At|_ms|Ms|_time|_usd|Usd|USD)$/;
/** The first one is there or not, as the line comes before or after a sign of life. */
const LEFT_OUT = new Set(['lastProgressAt', 'uuid', 'session_id', 'wf_version', 'capabilities']);

function withoutChanging(key: string, value: unknown): unknown {
  if (LEFT_OUT.has(key)) return undefined;
  return CHANGING.test(key) && typeof value === 'number' ? 0 : value;
}

/** Gives each distinct id a number, in the order of their first places. */
function numbered(text: string, ids: RegExp, prefix: string): string {
  const known = new Map<string, string>();
  return text.replace(ids, (id) => {
    const name = known.get(id) ?? `${prefix}${known.size + 1}`;
    known.set(id, name);
    return name;
  });
}

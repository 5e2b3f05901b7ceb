import { join } from 'node:path';
import { SESSION_VERSION, type SessionRow, sessionRowSchema } from '../protocol/session-row.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { type Disk, errnoOf, FILE_MODE, nodeDisk } from './disk.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { unwritableError } from './unwritable-error.ts';

type Message = Extract<SessionRow, { type: 'message' }>['message'];

/** The stored conversation of one session of the stdio host. */
export interface SessionFile {
  /** What was said before, in order. */
  readonly messages: readonly Message[];
  /** Adds messages, all in one write. Resolves when they are in the file. @throws STATE_UNWRITABLE */
  append(messages: readonly Message[]): Promise<void>;
}

export interface SessionFileOptions {
  /** The state directory. */
  readonly root: string;
  readonly sessionId: string;
  /** Working directory of the session. */
  readonly cwd: string;
  /** Epoch ms. */
  readonly now: number;
  readonly disk?: Disk;
}

/**
 * Opens `sessions/<id>.jsonl` for a session that goes on or a new one; the file is made with the first message.
 *
 * @throws FILE_UNREADABLE when it is there and cannot be read
 */
export async function openSessionFile(options: SessionFileOptions): Promise<SessionFile> {
  const { root, sessionId, cwd, now, disk = nodeDisk } = options;
  const path = sessionPath(root, sessionId);
  const earlier = await readSession(path, disk);
  let isNew = earlier === undefined;
  let last = Promise.resolve();
  const write = async (messages: readonly Message[]): Promise<void> => {
    const head: SessionRow = { type: 'session', v: SESSION_VERSION, sessionId, cwd, at: now };
    const rows: SessionRow[] = messages.map((message) => ({ type: 'message', message }));
    try {
      await makePrivateDirectory(disk, join(root, 'sessions'));
      const text = (isNew ? [head, ...rows] : rows).map((row) => `${JSON.stringify(row)}\n`).join('');
      await disk.writeFile(path, text, { flag: 'a', mode: FILE_MODE });
      isNew = false;
    } catch (error) {
      throw unwritableError(path, error);
    }
  };
  return {
    messages: earlier ?? [],
    append(messages) {
      if (messages.length === 0) return last;
      const written = last.then(() => write(messages));
      last = written.catch(() => {});
      return written;
    },
  };
}

/** Whether a session of that id is stored. */
export async function hasSession(root: string, sessionId: string, disk: Disk = nodeDisk): Promise<boolean> {
  return (await readSession(sessionPath(root, sessionId), disk)) !== undefined;
}

/** Gives the id of the session that was last written to in a working directory; undefined when there is none. */
export async function lastSession(root: string, cwd: string, disk: Disk = nodeDisk): Promise<string | undefined> {
  const folder = join(root, 'sessions');
  const names = (await disk.readdir(folder).catch(() => [])).filter((name) => name.endsWith('.jsonl'));
  const stored = await Promise.all(
    names.map(async (name) => ({
      path: join(folder, name),
      at: await disk.stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  for (const { path } of stored.sort((one, other) => other.at - one.at)) {
    const text = await disk.readFile(path, 'utf8').catch(() => '');
    const head = parseRow(text.slice(0, Math.max(0, text.indexOf('\n'))));
    if (head?.type === 'session' && head.cwd === cwd) return head.sessionId;
  }
  return undefined;
}

/** Ids come from a command line: none may name a file elsewhere. @throws USAGE_INVALID */
function sessionPath(root: string, sessionId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(sessionId)) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `${JSON.stringify(sessionId.slice(0, 80))} is no session id; give a UUID, as the "session_id" of an earlier session`,
    );
  }
  return join(root, 'sessions', `${sessionId}.jsonl`);
}

/** Undefined when there is no such file. Rows that are torn or of another version are left out. */
async function readSession(path: string, disk: Disk): Promise<readonly Message[] | undefined> {
  let text: string;
  try {
    text = await disk.readFile(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('FILE_UNREADABLE', `the session in ${path} cannot be read: ${reason}`, { cause });
  }
  const messages: Message[] = [];
  for (const line of text.split('\n')) {
    const row = parseRow(line);
    if (row?.type === 'message') messages.push(row.message);
  }
  return messages;
}

function parseRow(line: string): SessionRow | undefined {
  try {
    return sessionRowSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

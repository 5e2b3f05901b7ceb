import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { hasSession, lastSession, openSessionFile, type SessionFile } from '../../cache/session-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';
import type { HostFlags } from '../program/host-program.ts';

/** A session and where its conversation is kept. */
export interface StoredSession {
  readonly sessionId: string;
  readonly stored: SessionFile;
  readonly source: 'startup' | 'resume';
}

/** The session to go on with, or a new one; with `--continue` also where there is none. @throws FILE_MISSING, USAGE_INVALID */
export async function openStoredSession(
  { resume: named, continue: goOn, sessionId: given, forkSession }: HostFlags,
  root: string,
  { cwd, now }: CliContext,
): Promise<StoredSession> {
  if (named !== undefined && goOn === true) {
    throw new WorkflowError('USAGE_INVALID', 'give --resume SESSION or --continue, not both');
  }
  const resume = goOn === true ? await lastSession(root, cwd) : named;
  if (resume === undefined) {
    const sessionId = given ?? randomUUID();
    return { sessionId, stored: await openSessionFile({ root, sessionId, cwd, now: now() }), source: 'startup' };
  }
  if (!(await hasSession(root, resume))) {
    throw new WorkflowError(
      'FILE_MISSING',
      `there is no session ${resume} in ${join(root, 'sessions')}; leave out --resume to begin a new one`,
    );
  }
  const before = await openSessionFile({ root, sessionId: resume, cwd, now: now() });
  if (forkSession !== true) return { sessionId: resume, stored: before, source: 'resume' };
  const sessionId = given ?? randomUUID();
  const copy = await openSessionFile({ root, sessionId, cwd, now: now() });
  await copy.append(before.messages);
  return { sessionId, stored: { messages: before.messages, append: copy.append }, source: 'resume' };
}

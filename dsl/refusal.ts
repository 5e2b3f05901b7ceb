/** The error of something that a script may not have because a resumed run must make the same calls again. */
export function refusal(what: string, means: string): Error {
  return new Error(
    `${what} is not available in a workflow: a resumed run has to make the same calls again. ` +
      `Pass ${means} in through args, or let an agent find it out.`,
  );
}

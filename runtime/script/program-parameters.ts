/** Names of the workflow's globals, in the order in which the sandbox passes them to a compiled script. Source: spec S-9 to S-18. */
export const PROGRAM_PARAMETERS = [
  'agent',
  'parallel',
  'pipeline',
  'phase',
  'log',
  'workflow',
  'budget',
  'console',
  'args',
  'meta',
] as const;

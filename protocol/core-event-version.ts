/** Version of the core event log. Written in each `run.started`. */
export const CORE_EVENT_VERSION = 1;

/**
 * Version of the journal format. Written in each `launched` row; old versions keep replaying. Apart from the
 * schema of the rows, so that a run can start without loading the schema library.
 */
export const JOURNAL_VERSION = 1;

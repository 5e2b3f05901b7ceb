/** The one thing the host gets when it runs the bundled prelude in a fresh realm. */
export { openDoor } from './door.ts';

/** A script's text and the name it has in messages. */
export interface ScriptFile {
  readonly fileName: string;
  /** Normalised: no BOM, `\n` line ends. */
  readonly source: string;
}

/** Tells whether a script's types have to be stripped before it is JavaScript. */
export function isTypeScript(fileName: string): boolean {
  return /\.m?ts$/i.test(fileName);
}

/**
 * A schema that no answer could be checked against. The author of the script must change the schema; the runtime gives
 * the script a TypeError with this message.
 */
export class UnusableSchemaError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnusableSchemaError';
  }
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedBackend } from '../../agents/simulated/simulated-backend.ts';
import { isWorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../runtime/ports.ts';
import { createOutputContract, UnusableSchemaError } from '../../runtime/schema/output-contract.ts';

const PATIENCE_MS = 60_000;

const names = fc.constantFrom('a', 'b', 'c', 'title');
const small = fc.integer({ min: 0, max: 4 });

/** Schemas a person could write; some are unusable, some fit nothing. */
const { schema: schemas } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record(
      { type: fc.constant('string'), minLength: small, maxLength: fc.integer({ min: 2, max: 20 }) },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constantFrom('integer', 'number'),
        minimum: fc.integer({ min: -9, max: 3 }),
        maximum: fc.integer({ min: 2, max: 9 }),
        multipleOf: fc.constantFrom(1, 2, 0.5),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constantFrom('boolean', 'null', ['string', 'null']) }),
    fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
    fc.record({ type: fc.constant('string'), pattern: fc.constantFrom('^a+$', '[0-9]{2}', '^(x|yy)?z$', '\\w\\s\\d') }),
    fc.record({ $ref: fc.constantFrom('#', '#/$defs/d') }),
    fc.record(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        minItems: fc.integer({ min: 0, max: 2 }),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(names, tie('schema'), { maxKeys: 3 }),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie('schema') }),
  ),
}));
const documents = fc.tuple(schemas, schemas).map(([root, d]): Record<string, unknown> => ({ ...root, $defs: { d } }));

function contractOf(schema: unknown) {
  try {
    return createOutputContract(schema);
  } catch (error) {
    expect(error).toBeInstanceOf(UnusableSchemaError);
    return undefined;
  }
}

describe('schemas at random', () => {
  it('a simulated answer fits its schema, or the call rejects cleanly (A-24)', { timeout: PATIENCE_MS }, async () => {
    const backend = createSimulatedBackend();
    const report = { alive() {}, usage() {}, transcript() {} };
    let made = 0;
    await fc.assert(
      fc.asyncProperty(documents, fc.string(), async (schema, key) => {
        const output = contractOf(schema);
        if (output === undefined) return;
        const request = { key, prompt: 'p', label: 'l', output } as unknown as AgentRequest;
        try {
          const { valueJson } = await backend.run(request, new AbortController().signal, report as never);
          expect(output.accepts(valueJson)).toBe(true);
          made += 1;
        } catch (error) {
          if (!isWorkflowError(error)) throw error;
          expect(error.code).toBe('AGENT_NO_OUTPUT');
        }
      }),
      { numRuns: 300 },
    );
    expect(made).toBeGreaterThan(100);
  });

  it('a verdict never throws, and an accepted value is accepted again from the store (A-7, R-15)', {
    timeout: PATIENCE_MS,
  }, () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => json.slice(0, -1)),
      fc.json().map((json) => JSON.stringify({ value: json })),
    );
    fc.assert(
      fc.property(documents, texts, fc.boolean(), (schema, text, truncated) => {
        const contract = contractOf(schema);
        const verdict = contract?.judge(text, truncated);
        if (contract === undefined || verdict === undefined) return;
        if (verdict.ok) expect(contract.accepts(verdict.valueJson)).toBe(true);
        else expect(verdict.message.length).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 300 },
    );
  });

  it('a value that fits as it stands is not changed, key order included (R-26)', { timeout: PATIENCE_MS }, () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        expect(createOutputContract({}).judge(`{"value":${text}}`)).toEqual({ ok: true, valueJson: text });
      }),
    );
  });

  it('the wire of a usable schema is an object without unions at its root (A-8)', { timeout: PATIENCE_MS }, () => {
    fc.assert(
      fc.property(documents, (schema) => {
        const wire = contractOf(schema)?.wireSchema;
        if (wire === undefined) return;
        expect(wire.type).toBe('object');
        expect(Object.keys(wire)).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(any|all|one)Of$|^\$ref$/)]),
        );
        expect(() => createOutputContract(wire)).not.toThrow();
      }),
      { numRuns: 200 },
    );
  });
});

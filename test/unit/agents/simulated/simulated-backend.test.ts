import { describe, expect, it } from 'vitest';
import { createSimulatedBackend } from '../../../../agents/simulated/simulated-backend.ts';
import type { AgentReporter, AgentRequest, AgentUsage } from '../../../../runtime/ports.ts';
import { createOutputContract } from '../../../../runtime/schema/output-contract.ts';

function request(key: string, schema?: unknown): AgentRequest {
  return {
    key,
    agentId: 'a0123456789abcdef',
    prompt: `Find all\n  bugs of ${'x'.repeat(200)}`,
    label: 'bugs',
    phase: null,
    options: {},
    output: schema === undefined ? undefined : createOutputContract(schema),
    maxStructuredOutputRetries: 5,
    cwd: '/',
  };
}

function reporter(): AgentReporter & { readonly used: AgentUsage[] } {
  const used: AgentUsage[] = [];
  return {
    used,
    usage: (delta) => used.push(delta),
    alive: () => {},
    toolStarted: () => {},
    toolFinished: () => {},
    transcript: () => {},
    retry: () => Promise.reject(new Error('not expected')),
  };
}

const run = (key: string, schema?: unknown) =>
  createSimulatedBackend().run(request(key, schema), new AbortController().signal, reporter());

async function answerTo(schema: unknown, key = 'v1:k'): Promise<unknown> {
  return JSON.parse((await run(key, schema)).valueJson);
}

describe('the simulated backend (A-24)', () => {
  it('answers with a text that says so and quotes the prompt', async () => {
    const text: unknown = JSON.parse((await run('v1:k')).valueJson);
    expect(text).toContain('simulated');
    expect(text).toContain('"Find all bugs of xxx');
    expect(String(text).length).toBeLessThan(200);
  });

  it('gives the same answer for the same key and another one for another', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, n: { type: 'integer' } },
      required: ['a', 'n'],
    };
    expect(await run('v1:k', schema)).toEqual(await run('v1:k', schema));
    expect(await answerTo(schema, 'v1:k')).not.toEqual(await answerTo(schema, 'v1:l'));
    expect((await run('v1:k')).valueJson).not.toBe((await run('v1:l')).valueJson);
  });

  it('says what it used, and that one call was made where there is a schema', async () => {
    const report = reporter();
    const outcome = await createSimulatedBackend().run(
      request('k', { type: 'number' }),
      new AbortController().signal,
      report,
    );
    expect(report.used).toEqual([outcome.usage]);
    expect(outcome).toMatchObject({ attempts: 1, empty: false, toolUses: 0 });
    expect(outcome.usage.inputTokens).toBeGreaterThan(50);
    expect((await run('k')).attempts).toBe(0);
  });

  it('marks texts within a value, and keeps within bounds', async () => {
    const value = await answerTo({
      type: 'object',
      properties: {
        title: { type: 'string' },
        short: { type: 'string', maxLength: 3 },
        n: { type: 'integer', minimum: 3, maximum: 5 },
        list: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 2 },
      },
      required: ['title', 'short', 'n', 'list'],
    });
    expect(value).toMatchObject({ title: expect.stringMatching(/^simulated title [0-9a-f]{4}$/) });
  });

  it.each([
    [
      'a recursive tree',
      {
        type: 'object',
        properties: { kids: { type: 'array', items: { $ref: '#' }, minItems: 0 } },
        required: ['kids'],
      },
    ],
    [
      'a discriminated union',
      { oneOf: [{ type: 'object', properties: { k: { const: 'a' } }, required: ['k'] }, { type: 'null' }] },
    ],
    [
      'allOf with closed properties',
      {
        allOf: [{ required: ['a'] }, { type: 'object', properties: { a: { type: 'null' } } }],
        unevaluatedProperties: false,
      },
    ],
    [
      'patterns',
      {
        type: 'array',
        prefixItems: ['^[A-Z]{3}-\\d{4}$', '^(feat|fix)\\([a-z]+\\): .{10,}$', '^\\p{Lu}\\p{Ll}+$'].map((pattern) => ({
          type: 'string',
          pattern,
        })),
        minItems: 3,
      },
    ],
    ['an open pattern with a length', { type: 'string', pattern: '^a', minLength: 10, maxLength: 12 }],
    [
      'formats',
      {
        type: 'array',
        minItems: 9,
        prefixItems: ['date', 'time', 'date-time', 'email', 'uuid', 'uri', 'ipv4', 'ipv6', 'hostname'].map(
          (format) => ({ type: 'string', format }),
        ),
      },
    ],
    ['a map', { type: 'object', additionalProperties: { type: 'number' }, minProperties: 3 }],
    [
      'a map with patterned names',
      {
        type: 'object',
        patternProperties: { '^x-': { type: 'integer' } },
        additionalProperties: false,
        minProperties: 2,
      },
    ],
    ['named keys', { type: 'object', propertyNames: { pattern: '^k\\d$' }, minProperties: 3 }],
    [
      'a condition',
      {
        type: 'object',
        properties: { a: { enum: [1, 2] }, b: {} },
        required: ['a'],
        if: { properties: { a: { const: 1 } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['b'] },
      },
    ],
    [
      'different items',
      { type: 'array', items: { type: 'integer', minimum: 1, maximum: 3 }, uniqueItems: true, minItems: 3 },
    ],
    ['a contained value', { type: 'array', contains: { const: 5 }, items: { type: 'integer' } }],
    ['a step', { type: 'integer', multipleOf: 7, minimum: 50, maximum: 60 }],
    ['a narrow range', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 }],
    ['anything', {}],
    ['what is not excluded', { not: { type: 'string' } }],
    [
      'dependent properties',
      {
        type: 'object',
        properties: { a: {} },
        required: ['a'],
        dependentRequired: { a: ['b'] },
        dependentSchemas: { a: { required: ['c'] } },
      },
    ],
  ])('makes a value for %s', async (_title, schema) => {
    for (const key of ['1', '2', '3', '4'])
      expect(createOutputContract(schema).accepts((await run(key, schema)).valueJson)).toBe(true);
  });

  it.each([
    ['nothing fits', { not: {} }],
    ['too few values exist', { type: 'array', items: { enum: ['a'] }, uniqueItems: true, minItems: 3 }],
    ['the list is very long', { type: 'array', minItems: 1_000_000 }],
  ])('rejects with AGENT_NO_OUTPUT when %s', async (_title, schema) => {
    await expect(run('k', schema)).rejects.toMatchObject({
      code: 'AGENT_NO_OUTPUT',
      message: expect.stringContaining('bugs'),
    });
  });

  it('does nothing once it was aborted (A-18)', async () => {
    const backend = createSimulatedBackend();
    await expect(backend.run(request('k'), AbortSignal.abort(), reporter())).rejects.toMatchObject({
      code: 'RUN_CANCELLED',
    });
  });
});

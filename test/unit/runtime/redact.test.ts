import { describe, expect, it } from 'vitest';
import { createRedactor, secretValuesOf } from '../../../runtime/redact.ts';

const b64 = (n: number) => 'Ab3_'.repeat(n);
const alnum = (n: number) => 'aB3d'.repeat(n);

/** What it is, a text that holds it, and the text that is left. */
const KNOWN_SHAPES: readonly (readonly [string, string, string])[] = [
  ['Anthropic key', `key sk-ant-api03-${b64(8)}-x.`, 'key [REDACTED].'],
  ['OpenAI key', `sk-${alnum(8)}`, '[REDACTED]'],
  ['OpenAI project key', `"sk-proj-${b64(8)}"`, '"[REDACTED]"'],
  ['AWS access key', 'AKIAIOSFODNN7EXAMPLE!', '[REDACTED]!'],
  ['AWS temporary key', 'id=ASIAIOSFODNN7EXAMPLE', 'id=[REDACTED]'],
  ['GitHub token', `ghp_${alnum(9)} gho_${alnum(9)}`, '[REDACTED] [REDACTED]'],
  ['GitHub fine-grained token', `github_pat_${b64(9)}`, '[REDACTED]'],
  ['GitLab token', `glpat-${alnum(5)}`, '[REDACTED]'],
  ['Slack token', 'xoxb-123456789012-abcdef', '[REDACTED]'],
  ['Google key', `AIza${b64(9)}`, '[REDACTED]'],
  ['npm token', `//r/:_authToken=npm_${alnum(9)}`, '//r/:_authToken=[REDACTED]'],
  ['JWT', `eyJhbGciOiJI.eyJzdWIiOiIx.${alnum(8)}`, '[REDACTED]'],
  ['bearer header', 'Authorization: Bearer abcdef.123456/xyz==', 'Authorization: Bearer [REDACTED]'],
  ['bearer header in lower case', 'authorization: bearer abcdef.123456', 'authorization: bearer [REDACTED]'],
  ['PEM block', 'x -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- y', 'x [REDACTED] y'],
  ['PEM block that was cut', 'x -----BEGIN PRIVATE KEY-----\nMIIEabc', 'x [REDACTED]'],
];

const ORDINARY = [
  'task-force, risk-averse and disk-bound work',
  'sk-short',
  'the bearer of bad news',
  'Bearer tokens are refreshed',
  'bearer authentication is needed',
  'xoxo',
  'AKIA is a prefix',
  'eyJust kidding',
  'npm_config_cache',
  '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
  'v1:d0d1331b44bad4bcfd8b57e87eaa3058b354015cbec74269fe153c11b61d1e11',
  'shasum 5f4dcc3b5aa765d61d8327deb882cf99',
];

describe('createRedactor', () => {
  it.each(KNOWN_SHAPES)('takes out a key by its form: %s (A-32)', (_name, text, left) => {
    expect(createRedactor([]).text(text)).toBe(left);
  });

  it.each(ORDINARY)('leaves ordinary text alone: %s', (text) => {
    expect(createRedactor(['another secret']).text(text)).toBe(text);
  });

  it('takes out exact values, also several, next to each other and with signs of regular expressions (A-32)', () => {
    const redactor = createRedactor(['p+ss(w)rd$', 'second one', 'second one and more']);
    expect(redactor.text('p+ss(w)rd$second one and more, second one')).toBe('[REDACTED][REDACTED], [REDACTED]');
  });

  it('finds a value in JSON text, and in JSON text within that (A-32)', () => {
    const secret = 'Zq9w"Xe7rT5\\yU3iO1';
    const { text } = createRedactor([secret]);
    const once = JSON.stringify({ k: secret });
    expect([secret, once, JSON.stringify([once])].map(text)).toEqual([
      '[REDACTED]',
      '{"k":"[REDACTED]"}',
      JSON.stringify(['{"k":"[REDACTED]"}']),
    ]);
  });

  it('takes a numbered name for a secret one (A-32)', () => {
    expect(secretValuesOf({ API_KEY2: 'abcdefgh1', DB_PASSWORD1: 'abcdefgh2' })).toEqual(['abcdefgh1', 'abcdefgh2']);
  });

  it('values shorter than eight characters are no secrets', () => {
    expect(createRedactor(['true', 'staging', '']).text('true staging')).toBe('true staging');
  });

  it('the beginning of a secret at the end of a shortened text goes too (A-32)', () => {
    const redactor = createRedactor(['correct horse battery']);
    expect(redactor.text('it is correct horse')).toBe('it is [REDACTED]');
    expect(redactor.text('it is correct hor…')).toBe('it is [REDACTED]…');
    expect(redactor.text('it is correct h...')).toBe('it is [REDACTED]...');
    expect(redactor.text('it is correct hor… [14 characters cut]')).toBe('it is [REDACTED]… [14 characters cut]');
    expect(redactor.text('it is correct hor… [+9 characters]')).toBe('it is [REDACTED]… [+9 characters]');
    expect(redactor.text('correct horses run')).toBe('correct horses run');
    expect(redactor.text('it is correct')).toBe('it is correct');
  });

  it('json cleans every string and name inside a value and leaves the original as it was', () => {
    const redactor = createRedactor(['correct horse']);
    const value = { a: [1, 'correct horse', null, { 'correct horse': true }], b: 'fine' };
    const before = structuredClone(value);
    expect(redactor.json(value)).toEqual({ a: [1, '[REDACTED]', null, { '[REDACTED]': true }], b: 'fine' });
    expect(value).toEqual(before);
  });

  it('json gives back the very value when there is nothing to take out', () => {
    const value = { a: [1, 'two', { b: null }], text: 'task-force' };
    expect(createRedactor(['correct horse']).json(value)).toBe(value);
  });

  it('redacting twice changes nothing more', () => {
    const redactor = createRedactor(['correct horse']);
    for (const [, text] of KNOWN_SHAPES) {
      const once = redactor.text(text);
      expect(redactor.text(once)).toBe(once);
    }
  });

  it('100,000 short texts are checked in a fraction of a microsecond each', () => {
    const redactor = createRedactor(['correct horse', 'battery staple', `sk-ant-${alnum(10)}`]);
    const text = 'Review the file src/a.ts and say what is wrong with it';
    const start = performance.now();
    for (let n = 0; n < 100_000; n += 1) {
      redactor.text(text);
    }
    console.log(`redact: ${((performance.now() - start) * 10).toFixed(0)} ns a text of ${text.length} characters`);
    expect(redactor.text(text)).toBe(text);
  });

  it('a long hostile text is checked in linear time', () => {
    const redactor = createRedactor(['correct horse']);
    const texts = [
      'sk-'.repeat(100_000),
      'eyJ'.repeat(100_000),
      'Bearer '.repeat(50_000),
      '-----BEGIN PRIVATE KEY-----'.repeat(10_000),
      'correct '.repeat(50_000),
      `Bearer${' '.repeat(200_000)}`,
      `bearer ${' '.repeat(200_000)}x`,
    ];
    for (const text of texts) {
      const start = performance.now();
      redactor.text(text);
      expect(performance.now() - start, text.slice(0, 30)).toBeLessThan(2000);
    }
  });
});

describe('secretValuesOf', () => {
  it('picks the values of variables with secret names (A-32)', () => {
    const env = {
      ANTHROPIC_API_KEY: 'sk-ant-aaaaaaaa',
      ANTHROPIC_AUTH_TOKEN: 'token-bbbbbbbb',
      AWS_ACCESS_KEY_ID: 'AKIAcccccccc',
      AWS_SECRET_ACCESS_KEY: 'dddddddddddd',
      DB_PASSWORD: 'eeeeeeeeeeee',
      GOOGLE_CREDENTIALS: '{"ffffffff":1}',
      npm_config_auth: 'gggggggggggg',
      githubToken: 'hhhhhhhhhhhh',
      CLIENT_SECRET: ' iiiiiiiiiiii\n',
      SSH_PASSPHRASE: 'jjjjjjjjjjjj',
    };
    expect(secretValuesOf(env)).toEqual(Object.values(env).map((value) => value.trim()));
  });

  it('leaves out names of places, short values and everything else', () => {
    const env = {
      PATH: '/usr/bin:/usr/local/bin',
      HOME: '/home/someone',
      PWD: '/home/someone/project',
      OLDPWD: '/home/someone/other',
      SSH_AUTH_SOCK: '/run/agent.sock',
      GOOGLE_CREDENTIALS_FILE: '/etc/creds.json',
      AUTH_URL: 'https://login.example',
      KEYBOARD_LAYOUT: 'de-nodeadkeys',
      TOKENIZERS_PARALLELISM: 'disabled',
      AUTHOR: 'Somebody Somewhere',
      API_KEY: 'short',
      EMPTY_TOKEN: '',
      UNSET_TOKEN: undefined,
    };
    expect(secretValuesOf(env)).toEqual([]);
  });
});

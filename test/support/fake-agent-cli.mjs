#!/usr/bin/env node
/**
 * Stands in for an agent CLI: stream-json on both sides, the options of the real ones, an agent loop of its own over the
 * Messages API at ANTHROPIC_BASE_URL. No dependencies, so that it starts as fast as Node does.
 *
 * `--fake MODE` as its first argument makes it misbehave:
 *   old        knows neither --json-schema nor --tools, like an older CLI
 *   cost       tells what a turn cost, and that its messages told too few tokens
 *   hidden     does not show the StructuredOutput call, only the answer
 *   crash      ends with code 3 and words on its standard error
 *   killed     kills itself on its first start, as the file at FAKE_CLI_STATE tells, and works on the second
 *   login      is not logged in
 *   limit      has used up its account
 *   stubborn   ignores SIGTERM, and has a child that does; their ids go to the file at FAKE_CLI_STATE
 *   noise      prints lines that are no JSON, and of unknown types
 *   env        answers with its arguments, environment and working directory
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';

const argv = process.argv.slice(2);
const mode = argv[0] === '--fake' ? argv[1] : 'none';
const flag = (name) => {
  const at = argv.indexOf(name);
  return at < 0 ? undefined : argv[at + 1];
};
const list = (name) =>
  flag(name)
    ?.split(',')
    .filter((word) => word !== '');
const out = (row) => process.stdout.write(`${JSON.stringify({ session_id: 'fake-session', ...row })}\n`);

if (argv.includes('--help')) {
  const more = mode === 'old' ? '' : ' --json-schema <schema> --tools <list> --effort <level> --no-session-persistence';
  process.stdout.write(
    `fake -p --output-format <f> --input-format <f> --verbose --model <m> --mcp-config <json>${more}\n`,
  );
  process.exit(0);
}

const LENGTHS = { type: 'object', properties: {}, required: [] };
const TOOLS = {
  Read: (input) =>
    fs
      .readFileSync(path.resolve(input.file_path), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line, at) => `${at + 1}\t${line}`)
      .join('\n'),
  Glob: () => 'No files match.',
};
const only = list('--tools');
const denied = list('--disallowedTools') ?? [];
const available = Object.keys(TOOLS).filter((name) => (only?.includes(name) ?? true) && !denied.includes(name));
const maxTurns = Number(flag('--max-turns') ?? Infinity);
const maxAnswers = Number(process.env.MAX_STRUCTURED_OUTPUT_RETRIES ?? 5);
const schema = flag('--json-schema') && JSON.parse(flag('--json-schema'));
const mcpUrl = flag('--mcp-config') && JSON.parse(flag('--mcp-config')).mcpServers.wf.url;
const history = [];
const agent = new http.Agent({ keepAlive: true });
let answerSchema = schema;
let answersUsed = 0;
let costUsd = 0;

function post(url, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
        response.on('aborted', () => reject(new Error('the stream ended early')));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

let calls = 0;
async function mcp(method, params) {
  const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
  const notification = method.startsWith('notifications/');
  const { text } = await post(
    mcpUrl,
    { jsonrpc: '2.0', ...(notification ? {} : { id: ++calls }), method, params },
    accept,
  );
  return notification ? undefined : JSON.parse(text).result;
}

async function connectMcp() {
  await mcp('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fake', version: '1' },
  });
  await mcp('notifications/initialized', {});
  const { tools } = await mcp('tools/list', {});
  answerSchema = tools.find((tool) => tool.name === 'StructuredOutput').inputSchema;
}

/** A model's message, or how the API failed. */
async function ask() {
  const tools = available.map((name) => ({ name, description: name, input_schema: LENGTHS }));
  if (answerSchema) tools.push({ name: 'StructuredOutput', description: 'answer', input_schema: answerSchema });
  const body = {
    model: flag('--model') ?? 'fake-default',
    max_tokens: 1000,
    system: flag('--append-system-prompt'),
    tools,
    messages: history,
  };
  const key = { 'x-api-key': process.env.ANTHROPIC_API_KEY ?? 'fake' };
  for (let retriesLeft = Number(process.env.CLAUDE_CODE_MAX_RETRIES ?? 10); ; retriesLeft--) {
    try {
      const { status, text } = await post(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, body, key);
      if (status === 200) return { message: JSON.parse(text) };
      if (retriesLeft <= 0 || status < 429) return { failure: `API Error: ${status} ${text}` };
    } catch (error) {
      if (retriesLeft <= 0) return { failure: `API Error: Connection error. (${error.message})` };
    }
  }
}

/** Enough of JSON Schema for the schemas of the tests. */
function fault(value, wanted, at = '') {
  if (typeof value === 'string' && wanted.type === 'object') return 'cut off by the output limit';
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  if (wanted.type && wanted.type !== type && !(wanted.type === 'integer' && type === 'number'))
    return `${at || '/'} must be a ${wanted.type}`;
  for (const name of wanted.required ?? []) if (!(name in value)) return `${at}/${name} is missing`;
  for (const [name, sub] of Object.entries(wanted.properties ?? {})) {
    const found = name in value ? fault(value[name], sub, `${at}/${name}`) : undefined;
    if (found) return found;
  }
  return undefined;
}

async function judge(input) {
  if (!mcpUrl) {
    const found = fault(input, answerSchema);
    return { text: found ?? 'taken', isError: found !== undefined };
  }
  if (typeof input === 'string') return { text: 'cut off by the output limit', isError: true };
  const { content, isError } = await mcp('tools/call', { name: 'StructuredOutput', arguments: input });
  return { text: content[0].text, isError: isError === true };
}

async function runTool(block) {
  const give = (content, isError) => ({ type: 'tool_result', tool_use_id: block.id, content, is_error: isError });
  if (block.name === 'StructuredOutput') {
    answersUsed++;
    const { text, isError } = await judge(block.input);
    return give(text, isError);
  }
  if (!available.includes(block.name)) return give(`No such tool available: ${block.name}`, true);
  try {
    return give(TOOLS[block.name](block.input), false);
  } catch (error) {
    return give(error.message, true);
  }
}

function show(message) {
  message.content.forEach((block, at) => {
    if (mode === 'hidden' && block.name === 'StructuredOutput') return;
    const shown = block.name === 'StructuredOutput' && mcpUrl ? { ...block, name: 'mcp__wf__StructuredOutput' } : block;
    const stop_reason = at === message.content.length - 1 ? message.stop_reason : null;
    const usage = mode === 'cost' ? { ...message.usage, output_tokens: 1 } : message.usage;
    out({ type: 'assistant', parent_tool_use_id: null, message: { ...message, content: [shown], stop_reason, usage } });
  });
}

async function turn(text) {
  const sum = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  let stop = null;
  let said = '';
  const end = (row) => {
    costUsd += 0.25;
    const cost = mode === 'cost' ? { total_cost_usd: costUsd } : {};
    out({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: said,
      stop_reason: stop,
      num_turns: 1,
      usage: sum,
      ...cost,
      ...row,
    });
  };
  history.push({ role: 'user', content: [{ type: 'text', text }] });
  for (let turns = 0; ; turns++) {
    if (turns >= maxTurns)
      return end({ subtype: 'error_max_turns', is_error: true, result: undefined, errors: ['too many turns'] });
    const { message, failure } = await ask();
    if (failure) {
      out({
        type: 'assistant',
        error: 'unknown',
        message: {
          id: 'none',
          model: '<synthetic>',
          role: 'assistant',
          content: [{ type: 'text', text: failure }],
          usage: {},
        },
      });
      return end({ is_error: true, result: failure });
    }
    for (const name of Object.keys(sum)) sum[name] += message.usage[name] ?? 0;
    show(message);
    stop = message.stop_reason;
    said = message.content.map((block) => block.text ?? '').join('');
    const kept = message.content.filter((block) => block.type !== 'text' || block.text.trim() !== '');
    if (kept.length > 0) history.push({ role: 'assistant', content: kept });
    const uses = message.content.filter((block) => block.type === 'tool_use');
    if (uses.length === 0) return end({});
    const results = await Promise.all(uses.map(runTool));
    history.push({ role: 'user', content: results });
    const visible = mode === 'hidden' ? results.filter((_, at) => uses[at].name !== 'StructuredOutput') : results;
    if (visible.length > 0) out({ type: 'user', message: { role: 'user', content: visible } });
    const taken = uses.findLast((use, at) => use.name === 'StructuredOutput' && !results[at].is_error);
    if (taken) return end(mcpUrl ? {} : { structured_output: taken.input });
    if (!mcpUrl && answersUsed >= maxAnswers)
      return end({ subtype: 'error_max_structured_output_retries', is_error: true, errors: ['never valid'] });
  }
}

async function misbehave() {
  const state = process.env.FAKE_CLI_STATE;
  if (mode === 'crash') {
    process.stderr.write('\u001b[31mout of cheese\u001b[0m\n');
    process.exit(3);
  }
  if (mode === 'killed' && !fs.existsSync(state)) {
    fs.writeFileSync(state, '');
    process.kill(process.pid, 'SIGKILL');
  }
  if (mode === 'login') {
    out({
      type: 'assistant',
      error: 'authentication_failed',
      message: { id: 'none', content: [{ type: 'text', text: 'Invalid API key · Please run /login' }] },
    });
    out({ type: 'result', subtype: 'success', is_error: true, result: 'Invalid API key · Please run /login' });
    return true;
  }
  if (mode === 'limit') {
    out({ type: 'result', subtype: 'success', is_error: true, result: 'Claude AI usage limit reached|4102444800' });
    return true;
  }
  if (mode === 'env') {
    out({ type: 'result', subtype: 'success', result: JSON.stringify({ argv, env: process.env, cwd: process.cwd() }) });
    return true;
  }
  if (mode === 'stubborn') {
    process.on('SIGTERM', () => {});
    const child = spawn(
      process.execPath,
      ['-e', 'process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1000)'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    await new Promise((resolve) => child.stdout.once('data', resolve));
    fs.writeFileSync(`${state}.part`, JSON.stringify([process.pid, child.pid]));
    fs.renameSync(`${state}.part`, state);
    return true;
  }
  if (mode === 'noise')
    process.stdout.write(
      'a greeting\n\n{"type":"system","subtype":"new_thing"}\n[1]\nnull\n{"type":"rate_limit_event"}\n',
    );
  return false;
}

if (mcpUrl) await connectMcp();
out({
  type: 'system',
  subtype: 'init',
  model: flag('--model') ?? 'fake-default',
  tools: available,
  cwd: process.cwd(),
});
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { message } = JSON.parse(line);
  if (!(await misbehave())) await turn(message.content[0].text);
}
if (mode !== 'stubborn') process.exit(0);

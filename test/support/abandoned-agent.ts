/** Starts one agent of a stubborn agent CLI and waits for ever. Arguments: the stand-in, its state file. */
import { openProcessBackend } from '../../agents/process/process-backend.ts';
import { agentRequest } from './agent-request.ts';
import { FakeReporter } from './fake-reporter.ts';

const [cli = '', state = ''] = process.argv.slice(2);
const backend = await openProcessBackend({
  name: 'process',
  command: [process.execPath, cli, '--fake', 'stubborn'],
  env: { PATH: process.env['PATH'], FAKE_CLI_STATE: state },
  cwd: process.cwd(),
});
await backend.run(agentRequest('WAIT'), new AbortController().signal, new FakeReporter());

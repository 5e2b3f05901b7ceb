import { describe, expect, it } from 'vitest';
import { NestedWorkflows } from '../../../runtime/nested-workflows.ts';

const SECRET_FILE = '{"token": "correct-horse-battery", "expires": 1}';

async function messageFor(fileName: string): Promise<string> {
  const found = async () => ({ text: SECRET_FILE, fileName, path: `/home/user/${fileName}` });
  const nested = new NestedWorkflows(found, 'root.js', '/home/user');
  const answer = await nested.find({
    id: 1,
    ref: { scriptPath: fileName },
    argsJson: undefined,
    depth: 1,
    callerFile: 'root.js',
  });
  return answer.ok ? '' : answer.error.message;
}

describe('the error of a file that is no workflow', () => {
  it('shows a script nothing of a file that is not named as one (S-18, S-20)', async () => {
    for (const name of ['credentials.json', '.env', 'passwd']) {
      const message = await messageFor(name);
      expect(message).not.toMatch(/horse|token/);
      expect(message).toContain(`${name} is no workflow script`);
    }
  });

  it('shows the line of one that is (S-6)', async () => {
    expect(await messageFor('child.js')).toContain('correct-horse');
  });
});

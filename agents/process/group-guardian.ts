import { type ChildProcess, spawn } from 'node:child_process';

/** Kills process groups that outlive this process, however it ends. */
export interface GroupGuardian {
  watch(group: number): void;
  release(group: number): void;
  close(): void;
}

/**
 * Reads `+ <group>` and `- <group>` from its standard input. The input ends when the process that holds its other end is
 * gone, killed or not: then every group that is still listed is killed.
 */
const WATCH = `
groups=" "
while read -r word group; do
  case $word in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/**
 * Starts a shell that watches over the process groups of all agents of a backend: they die with the run even when the
 * run is killed and can do nothing for them any more. Where there is no shell, nothing is watched.
 */
export function startGuardian(): GroupGuardian {
  let shell: ChildProcess | undefined;
  const tell = (word: '+' | '-', group: number): void => {
    shell ??= open();
    shell.stdin?.write(`${word} ${group}\n`);
  };
  return {
    watch: (group) => tell('+', group),
    release: (group) => tell('-', group),
    close() {
      shell?.stdin?.end();
      shell = undefined;
    },
  };
}

/** In a group of its own, so that a Ctrl-C at the terminal spares it; and never a reason for this process to stay. */
function open(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', WATCH], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as unknown as { unref?(): void }).unref?.();
  return shell;
}

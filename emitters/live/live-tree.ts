import { createLogUpdate } from 'log-update';
import type { Clock, EventSink, TimerHandle } from '../../runtime/ports.ts';
import { createPaint } from '../text/paint.ts';
import { fitColumns } from '../text/terminal-text.ts';
import { createTreeView } from './tree-view.ts';

/** Ten frames a second at most, and one each second while agents work, for their clocks. */
const FRAME_MS = 100;
const IDLE_FRAME_MS = 1000;
/** The tree leaves room for the lines above it. */
const MOST_LINES = 20;

export interface LiveTerminal {
  write(text: string): void;
  /** As they are now; asked for each frame, so that a resize is noticed. */
  readonly columns: number;
  readonly rows: number;
}

export interface LiveTreeOptions {
  readonly terminal: LiveTerminal;
  readonly clock: Clock;
  readonly color: boolean;
}

export interface LiveTree extends EventSink {
  /** Puts whole lines above the tree, with its next frame. */
  above(text: string): void;
  /** Takes the tree off the screen, for good. What waited to be put above it is written first. */
  end(): void;
}

/**
 * Keeps a tree of phases and of agents at work at the bottom of a terminal, redrawn in place (E-17). The cursor is never
 * hidden, so a process that dies leaves a usable terminal.
 */
export function createLiveTree({ terminal, clock, color }: LiveTreeOptions): LiveTree {
  const view = createTreeView();
  const paint = createPaint(color);
  /** What one frame writes goes out at once. */
  let output = '';
  const area = createLogUpdate(
    {
      write: (text: string) => {
        output += text;
        return true;
      },
      get columns() {
        return terminal.columns;
      },
      get rows() {
        return terminal.rows;
      },
    } as NodeJS.WriteStream,
    { showCursor: true },
  );
  let waiting = '';
  let timer: { readonly atMs: number; readonly handle: TimerHandle } | undefined;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let ended = false;

  const write = (frame: string | undefined): void => {
    if (waiting !== '' || frame === undefined) area.clear();
    output += waiting;
    waiting = '';
    if (frame !== undefined) area(frame);
    if (output !== '') terminal.write(output);
    output = '';
  };

  const draw = (): void => {
    timer = undefined;
    drawnAtMs = clock.now();
    const most = Math.max(2, Math.min(MOST_LINES, terminal.rows - 2));
    const lines = view.lines(drawnAtMs, most);
    const columns = Math.max(20, terminal.columns - 1);
    write(lines.map(({ tone, text }) => paint[tone](fitColumns(text, columns))).join('\n'));
    if (view.running > 0) drawAt(drawnAtMs + IDLE_FRAME_MS);
  };

  const drawAt = (atMs: number): void => {
    if (ended || (timer !== undefined && timer.atMs <= atMs)) return;
    timer?.handle.cancel();
    timer = { atMs, handle: clock.after(Math.max(0, atMs - clock.now()), draw) };
  };

  const end = (): void => {
    if (ended) return;
    ended = true;
    timer?.handle.cancel();
    write(undefined);
  };

  return {
    above(text) {
      waiting += text;
      if (ended) write(undefined);
      else drawAt(drawnAtMs + FRAME_MS);
    },
    handle(event) {
      view.apply(event);
      if (event.type === 'run.finished') end();
      else drawAt(drawnAtMs + FRAME_MS);
    },
    async close() {
      end();
    },
    end,
  };
}

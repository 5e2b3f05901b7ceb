/** One request that the stand-in got. */
export interface FakeApiCall {
  readonly n: number;
  /** Milliseconds since the start of the stand-in. */
  readonly at: number;
  readonly until: number | null;
  readonly prompt: string;
  readonly model: string;
  readonly stream: boolean;
  /** Assistant messages in the history. */
  readonly depth: number;
  readonly tools: readonly string[];
  readonly schema: unknown;
  readonly toolChoice: unknown;
  readonly maxTokens: number;
  readonly lastUser: string;
  readonly userText: string;
  readonly systemText: string;
  readonly outcome: 'completed' | 'error' | 'cut' | 'aborted' | 'limited' | 'refused' | null;
}

export interface FakeApiStats {
  readonly requests: number;
  readonly conversations: number;
  readonly retries: number;
  readonly completed: number;
  readonly errors: number;
  readonly cut: number;
  readonly aborted: number;
  readonly limited: number;
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** Why requests were refused as the real API would refuse them. */
  readonly refused: readonly string[];
  readonly calls: readonly FakeApiCall[];
}

export interface FakeApi {
  readonly port: number;
  readonly url: string;
  readonly stats: FakeApiStats;
  reset(rules?: unknown): void;
  close(): Promise<void>;
}

export interface FakeApiOptions {
  readonly port?: number;
  /** A responses file (C-12) with the turns the stand-in adds, or just its rules. */
  readonly rules?: unknown;
  readonly logFile?: string;
  readonly limitInFlight?: number;
  readonly retryAfterMs?: number;
  readonly strict?: boolean;
  readonly chunkBytes?: number;
  readonly pingMs?: number;
}

export function startFakeApi(options?: FakeApiOptions): Promise<FakeApi>;
export function peakInFlight(calls: readonly FakeApiCall[], pick?: (call: FakeApiCall) => boolean): number;
/** What the real API would refuse in this request; null when nothing. */
export function refusal(body: unknown): string | null;

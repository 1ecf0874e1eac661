/** Settings of a ledger. */
export interface LedgerSettings {
  /** A gain of a task's input above this rate adds nothing. */
  readonly maxInputBytesPerSecond: number;
  /** A gain of an output above this rate adds nothing. */
  readonly maxOutputBytesPerSecond: number;
  /** How long the account of a task that left is kept. */
  readonly rememberTasksForMs: number;
  /** How many accounts of tasks, inputs and outputs that left are kept at most. */
  readonly maxDepartedAccounts: number;
}

export const DEFAULT_LEDGER_SETTINGS: LedgerSettings = {
  // 40 Gbit/s and 400 Gbit/s.
  maxInputBytesPerSecond: 5e9,
  maxOutputBytesPerSecond: 5e10,
  rememberTasksForMs: 6 * 60 * 60 * 1000,
  maxDepartedAccounts: 100_000,
};

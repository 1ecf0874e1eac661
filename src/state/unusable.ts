/** Why a state file cannot be used: it is not whole, it is something else, or it is of a later exporter. */
export type UnusableReason = 'damaged' | 'foreign' | 'newer';

/** A state file that cannot be used. Its message holds nothing of what the file holds. */
export class UnusableStateError extends Error {
  override readonly name = 'UnusableStateError';
  readonly reason: UnusableReason;

  constructor(reason: UnusableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

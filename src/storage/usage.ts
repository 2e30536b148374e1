/** What a location holds. */
export interface Usage {
  /** The sizes of all files, as their owner sees them (not the blocks they take). */
  readonly usedBytes: bigint
  readonly files: number
  /** Free on the volume for this user; `null` where that is unknown or means nothing. */
  readonly freeBytes: bigint | null
  /** Folders and files that could not be looked at, so that `usedBytes` is too low; 0 when all is counted. */
  readonly skipped: number
}

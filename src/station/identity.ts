import type { StationState } from './state.ts'

/**
 * What decides whether a stored live state may be shown: Redis may hold one from before the station was
 * deleted, renamed or made private.
 */
export interface StationIdentity {
  /** Null: the station was deleted. */
  readonly epoch: string | null
  readonly shortName: string
  readonly isPublic: boolean
}

/**
 * Whether a state is of a time when its station had another epoch or name, was public, or had not been
 * deleted.
 */
export function isStaleIdentity(
  { epoch, profile }: StationState,
  identity: StationIdentity | undefined
): boolean {
  if (identity === undefined) return false
  const { shortName, isPublic } = profile
  return epoch !== identity.epoch || shortName !== identity.shortName || (isPublic && !identity.isPublic)
}

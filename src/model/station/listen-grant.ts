/** The right to follow one private station for a time, which a listen token carries. */
export interface ListenGrant {
  readonly stationId: number
  /** When it ends, in Unix milliseconds. */
  readonly endsAtMs: number
  /** That of the station when the token was issued. */
  readonly generation: number
}

/** What decides who may see a station. */
export interface StationVisibility {
  readonly stationId: number
  readonly isPublic: boolean
  /** Listen tokens of earlier generations are revoked. */
  readonly listenTokenGeneration: number
}

/** Whether a grant is for a station, and neither expired nor revoked. */
export function grantsListening(
  grant: ListenGrant,
  { stationId, listenTokenGeneration }: StationVisibility,
  nowMs: number
): boolean {
  return grant.stationId === stationId && grant.generation >= listenTokenGeneration && nowMs < grant.endsAtMs
}

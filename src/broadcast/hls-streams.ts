import type { Variants } from './hls-listeners.ts'

/** An HLS stream of a station: `name` is the path it has as a mount. */
export interface HlsStream {
  readonly id: number
  readonly name: string
}

/**
 * Who listens to each stream, by its id. A variant belongs to the stream of its name, without the slash in front and with or
 * without its extension: `radio` is `/radio.mp3`, unless there is `/radio`. Variants of no stream are passed over.
 */
export function listenersOfStreams(
  streams: readonly HlsStream[],
  variants: Variants
): Map<number, ReadonlySet<string>> {
  const byVariant = new Map<string, number>()
  const remember = (variant: string, id: number) => {
    if (!byVariant.has(variant)) byVariant.set(variant, id)
  }
  for (const { id, name } of streams) remember(name.replace(/^\//, ''), id)
  for (const { id, name } of streams) remember(name.replace(/^\//, '').replace(/\.[^./]+$/, ''), id)
  const listeners = new Map<number, Set<string>>()
  for (const [variant, identities] of variants) {
    const id = byVariant.get(variant)
    if (id === undefined) continue
    listeners.set(id, new Set([...(listeners.get(id) ?? []), ...identities]))
  }
  return listeners
}

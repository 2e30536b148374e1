import type { SeenListener, ListenersByVariant } from './hls-listeners.ts'

/** `name` is the path of the stream as a mount. */
export interface HlsStream {
  readonly id: number
  readonly name: string
}

/**
 * The ids of streams by the variants that may belong to them. A variant belongs to the stream of its name
 * without the leading slash, with or without the extension: `radio` is `/radio.mp3`, unless there is `/radio`.
 */
export function mapVariantsToStreams(streams: readonly HlsStream[]): Map<string, number> {
  const names = streams.map(({ id, name }) => [name.replace(/^\/(hls\/)?/, ''), id] as const)
  const bareNames = names.map(([name, id]) => [name.replace(/\.[^./]+$/, ''), id] as const)
  // The first stream of a name wins: later entries of a map replace earlier ones.
  return new Map([...names, ...bareNames].toReversed())
}

/** Groups listeners by stream id and identity. Variants of no stream are ignored. */
export function groupListenersByStream(
  streams: readonly HlsStream[],
  variants: ListenersByVariant
): Map<number, ReadonlyMap<string, SeenListener>> {
  const idByVariant = mapVariantsToStreams(streams)
  const listeners = new Map<number, ReadonlyMap<string, SeenListener>>()
  for (const [variant, seen] of variants) {
    const id = idByVariant.get(variant)
    if (id !== undefined) listeners.set(id, new Map([...seen, ...(listeners.get(id) ?? [])]))
  }
  return listeners
}

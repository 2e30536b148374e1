/** What is known of a live playlist. `edge` is its end, in seconds of the media. */
export interface LivePlaylist {
  readonly url: string
  readonly edge: number
  /** The media sequence number of the last segment. */
  readonly endSN: number
}

export interface LiveEdgeDeps {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Resolves after the time in milliseconds; rejects if the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly fetchText: (url: string, signal: AbortSignal) => Promise<string>
}

/** How long a position of the live edge counts. */
const windowMs = 60_000
/** How often the appearance of a segment is observed. */
const observeEveryMs = 30_000
/** How often the playlist is then requested, and for how long at most: segments are shorter. */
const probeMs = 250
const probesAtMost = 60

/**
 * Finds the live edge of a stream whose playlist has no program date times. A playlist is loaded up to the length of a
 * segment after the segment has appeared, always by the same time if both periods are equal. So the playlist is
 * requested more often for a moment, until the next segment appears. The earliest appearance in the last minute counts.
 */
export function openLiveEdge({ now, wait, fetchText }: LiveEdgeDeps) {
  /** The edge at time 0 of the clock. */
  let origins: readonly { readonly atMs: number; readonly seconds: number }[] = []
  let observedAtMs = -Infinity
  const closing = new AbortController()

  function add(edge: number, atMs: number): void {
    const recent = origins.filter(origin => atMs - origin.atMs < windowMs)
    origins = [...recent, { atMs, seconds: edge - atMs / 1_000 }]
  }

  async function observe({ url, edge, endSN }: LivePlaylist): Promise<void> {
    for (let probe = 0; probe < probesAtMost; probe++) {
      await wait(probeMs, closing.signal)
      const added = segmentSecondsAfter(await fetchText(url, closing.signal), endSN)
      // It appeared since the request before.
      if (added > 0) return add(edge + added, now() - probeMs / 2)
    }
  }

  return {
    /** Takes a playlist that was just loaded. */
    update(playlist: LivePlaylist): void {
      const atMs = now()
      add(playlist.edge, atMs)
      if (atMs - observedAtMs < observeEveryMs) return
      observedAtMs = atMs
      // The positions of loaded playlists remain.
      observe(playlist).catch(() => {})
    },
    /** The position of the live edge now, in seconds of the media; null before the first playlist. */
    position(): number | null {
      if (origins.length === 0) return null
      return Math.max(...origins.map(({ seconds }) => seconds)) + now() / 1_000
    },
    close: () => closing.abort()
  }
}

/** The length of the segments after a sequence number, in seconds (RFC 8216, sections 4.3.2.1 and 4.3.3.2). */
export function segmentSecondsAfter(playlist: string, sequence: number): number {
  const first = Number(/^#EXT-X-MEDIA-SEQUENCE:(\d+)/m.exec(playlist)?.[1] ?? 0)
  const lengths = [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].map(([, seconds]) => Number(seconds))
  return lengths.slice(Math.max(0, sequence + 1 - first)).reduce((sum, length) => sum + length, 0)
}

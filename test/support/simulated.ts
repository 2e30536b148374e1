import { newPlaylistSettings, newStationSettings } from '../../src/commands/simulate/example-station.ts'
import type { AutodjRules, PlayOrRow, AutodjLibrary, Playlist } from '../../src/model/autodj/library.ts'
import type { DecisionLogEntry } from '../../src/model/autodj/log-entry.ts'
import type { ScheduleItem } from '../../src/model/autodj/schedule.ts'
import type { SimulatedPlay } from '../../src/model/autodj/simulate.ts'
import type { SimulationRun } from '../../src/model/autodj/simulation/run.ts'
import { hourMs, minuteMs, getTimeZone } from '../../src/model/autodj/time-zone.ts'
import { buildTrackColumns, type TrackRow } from '../../src/model/autodj/track-columns.ts'

/** A Monday, 00:00 in UTC. */
export const monday = Date.UTC(2026, 0, 12)

/** A time after the Monday. */
export const at = (hours: number, minutes = 0) => monday + hours * hourMs + minutes * minuteMs

export const aTrack = (id: number, parts: Partial<TrackRow> = {}): TrackRow => ({
  id,
  media: id,
  song: id,
  title: 1_000_000 + id,
  artists: [2_000_000 + id],
  durationMs: 3 * minuteMs,
  lastPass: 0,
  lastAiredMs: 0,
  ...parts
})

/** A rotation of ten tracks, whose numbers start at its id times 100. */
export function aPlaylist(
  id: number,
  parts: Partial<Omit<Playlist, 'tracks' | 'schedule' | 'options'>> & {
    tracks?: readonly TrackRow[]
    schedule?: readonly Partial<ScheduleItem>[]
    options?: Iterable<'interrupt' | 'single_track' | 'merge' | 'prioritize' | 'loop_once'>
  } = {}
): Playlist {
  const { tracks, schedule = [], options = [], ...rest } = parts
  return {
    id,
    name: `List ${id}`,
    ...newPlaylistSettings,
    ...rest,
    options: new Set(options),
    schedule: schedule.map((item, index) => ({
      id: id * 10 + index,
      start_time: 0,
      end_time: 0,
      start_date: '',
      end_date: '',
      days: [],
      loop_once: false,
      ...item
    })),
    tracks: buildTrackColumns(tracks ?? Array.from({ length: 10 }, (_, index) => aTrack(id * 100 + index)))
  }
}

export function aLibrary(playlists: readonly Playlist[], rules: Partial<AutodjRules> = {}): AutodjLibrary {
  return {
    rules: {
      zone: getTimeZone('UTC'),
      seed: 1,
      ...newStationSettings,
      requestThresholdMs: 0,
      ...rules
    },
    playlists,
    past: { plays: [], older: new Map(), removed: [] },
    requests: []
  }
}

/** A play of a playlist (0: silence) after the previous one. */
export interface Heard extends Partial<PlayOrRow> {
  readonly of: number
  readonly minutes: number
  readonly log?: readonly DecisionLogEntry[]
}

/** Returns consecutive plays. */
export function inARow(startsAtMs: number, heard: readonly Heard[]): SimulatedPlay[] {
  let atMs = startsAtMs
  return heard.map(({ of, minutes, log = [], ...parts }, index) => {
    const endsAtMs = atMs + minutes * minuteMs
    const song = { song: of * 100 + index, title: 0, artists: [] }
    const play: PlayOrRow = {
      playlistId: of,
      trackId: song.song,
      mediaId: song.song,
      pass: 1,
      requestId: null,
      occurrenceMs: null,
      song,
      isVisible: true,
      isInterrupt: false,
      durationMs: endsAtMs - atMs,
      ...parts,
      startsAtMs: atMs
    }
    const each = { startsAtMs: atMs, endsAtMs, play: of === 0 ? null : play, log }
    atMs = endsAtMs
    return each
  })
}

/** A run from the Monday to the end of its plays. */
export function aRun(
  playlists: readonly Playlist[],
  heard: readonly Heard[],
  rules: Partial<AutodjRules> = {}
): SimulationRun {
  const plays = inARow(monday, heard)
  return {
    library: aLibrary(playlists, rules),
    fromMs: monday,
    untilMs: plays.at(-1)?.endsAtMs ?? monday,
    plays
  }
}

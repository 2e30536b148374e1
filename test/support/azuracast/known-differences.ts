import { readFile } from 'node:fs/promises'

import type { Row } from './world.ts'

/** The most lines that the list of differences may have. */
export const maxLines = 20

/** What a comparison found, compared with the list in docs/azuracast.md. */
export interface Judgment {
  readonly lines: number
  /** Differences that the list does not have, with examples. */
  readonly unknown: readonly (readonly [name: string, example: string])[]
  /** Names in the list that were not found. */
  readonly missing: readonly string[]
}

/** Compares differences with the table "What differs after a move" in docs/azuracast.md. */
export async function judgeDifferences(differences: ReadonlyMap<string, string>): Promise<Judgment> {
  const text = await readFile(new URL('../../../docs/azuracast.md', import.meta.url), 'utf8')
  const [, section = ''] = /\n### What differs after a move\n(.*?)\n##/s.exec(text) ?? []
  const lines = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  )
  const known = lines.flat()
  return {
    lines: lines.length,
    unknown: [...differences].filter(([name]) => !known.includes(name)),
    missing: known.filter(name => !differences.has(name))
  }
}

type Check = (ours: string, theirs: string, row: Row) => boolean

const isUnset: Check = ours => ours === '0'
const isWithin =
  (most: number): Check =>
  (ours, theirs) =>
    Math.abs(Number(ours) - Number(theirs)) <= most

/** What the values of a difference must be, where its reason says so. */
const checks: Readonly<Record<string, Check>> = {
  'station.genre': isUnset,
  'station_playlists.description': isUnset,
  'station_media.length': isWithin(0.5),
  'station_queue.duration': isWithin(0.5),
  'users.roles': (ours, theirs) => ours === 'Administrator' && theirs === 'Super Administrator',
  'analytics.number_avg': isWithin(0.5),
  'station_remotes.relay_id': isUnset,
  'station_remotes.enable_autodj': isUnset,
  'station_streamers.art_updated_at': isUnset,
  'station_webhooks.is_enabled': isUnset,
  'station_mounts.intro_path': isUnset,
  'song_history.listeners_end': (ours, theirs, row) =>
    theirs === '0' && row['timestamp_end'] === null && ours === String(row['listeners_start']),
  'station_streamer_broadcasts.timestamp_end': (_, theirs) => theirs === '0'
}

/** Whether the values of a difference are as the list says. */
export const isExplained = (name: string, ours: string, theirs: string, row: Row): boolean =>
  checks[name]?.(ours, theirs, row) ?? true

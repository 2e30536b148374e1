import { checkPlaylistDue } from './due.ts'
import { collectAvoidedKeys, findRepeatTier } from './duplicates.ts'
import { airtimeMs, computeMaxAirtimeMs } from './durations.ts'
import { findInterruptingPlaylists } from './interrupt.ts'
import {
  type PlayOrRow,
  isInterruptingPlaylist,
  isPlayablePlaylist,
  isSequencePlaylist,
  type Playlist,
  listRegularPlaylists,
  type RemovedRow,
  type QueueSlot
} from './library.ts'
import { playlistRanks, hasRank, pickFromPlaylists } from './pick.ts'
import { findPreviousPlay, repeatsOwnJingle, repeatsUnintentionally } from './previous-play.ts'
import { type DraftRow, findPlaylistOfRow, openSlotRandom, nextSlot, type QueueDraft } from './queue-draft.ts'
import { findDueRequest } from './requests.ts'
import type { ScheduleWindow } from './schedule.ts'
import { columnValueAt, findTrackIndex } from './track-columns.ts'
import { type TrackBatch, findTrackPools, firstTrackInPool, planNextBatch } from './track-pools.ts'

/** Whether a row keeps its place: sent, manual, or part of a batch that has begun. */
export function isFixedRow(draft: QueueDraft, row: DraftRow): boolean {
  return row.isSent || row.isManual || hasBatchBegun(draft, row)
}

/** Whether a row belongs to a batch that has begun. A batch has a pass of its own. */
export function hasBatchBegun(
  { planned, input }: QueueDraft,
  { batch, playlistId, pass }: DraftRow
): boolean {
  if (batch === null) return false
  return (
    planned.some(row => row.batch === batch) ||
    input.library.past.plays.some(play => play.playlistId === playlistId && play.pass === pass)
  )
}

/** Whether the playlist of a row could choose it for the next slot. */
export function isEligibleRow(draft: QueueDraft, row: DraftRow): boolean {
  const playlist = findPlaylistOfRow(draft, row)
  return playlist !== undefined && isRowEligible(row, playlist, nextSlot(draft))
}

/** Whether a row may be moved to the next slot. */
export function isMovableRow(draft: QueueDraft, row: DraftRow): boolean {
  return !isFixedRow(draft, row) && row.requestId === null && isEligibleRow(draft, row)
}

/** Whether a row would repeat the previous song in the next slot unintentionally. */
export function isRepeatedRow(draft: QueueDraft, row: DraftRow): boolean {
  return repeatsUnintentionally(nextSlot(draft), row, findPlaylistOfRow(draft, row))
}

/** Whether another song fits the slot of a row better. */
export function isImprovableRow(draft: QueueDraft, row: DraftRow): boolean {
  if (isRepeatedRow(draft, row)) return hasAlternative(draft, row)
  return hasBetterTrack(draft, row) || hasOtherJingle(draft, row)
}

/** Whether a row is the last jingle of its playlist once more, which could choose another one. */
function hasOtherJingle(draft: QueueDraft, row: DraftRow): boolean {
  const own = findPlaylistOfRow(draft, row)
  const slot = nextSlot(draft)
  if (!own || !repeatsOwnJingle(slot, row, own)) return false
  const decision = pickFromPlaylists(
    slot,
    { playlists: [own], buckets: playlistRanks, mayRepeat: false },
    openSlotRandom(draft),
    []
  )
  return decision !== null && decision.tracks[0].song.song !== row.song.song
}

/** Whether a rotation row is a duplicate, and its bucket now has a track of a better tier. */
function hasBetterTrack(draft: QueueDraft, row: DraftRow): boolean {
  const own = findPlaylistOfRow(draft, row)
  if (own?.type !== 'default' || row.isInterrupt || isSequencePlaylist(own)) return false
  if (!own.avoidsDuplicates || own.source !== 'songs') return false
  const slot = { ...nextSlot(draft), rowsAfter: [] }
  const tier = findRepeatTier(row.song, collectAvoidedKeys(slot))
  if (tier === 1) return false
  const bucket = playlistRanks.filter(each => hasRank(own, each))
  const options = { playlists: listRegularPlaylists(slot), buckets: bucket, mayRepeat: false }
  const decision = pickFromPlaylists(slot, options, openSlotRandom(draft), [])
  return decision !== null && (decision.tier ?? tier) < tier
}

/** Whether something else can play instead of a row that repeats the previous song: another song after a jingle. */
function hasAlternative(draft: QueueDraft, row: DraftRow): boolean {
  const slot = nextSlot(draft)
  if (!row.isInterrupt && findDueRequest(slot).picked) return true
  const isAfterJingle = row.isVisible && findPreviousPlay(slot)?.isVisible === false
  const playlists = (row.isInterrupt ? findInterruptingPlaylists(slot) : listRegularPlaylists(slot)).filter(
    ({ isJingle }) => !isJingle || !isAfterJingle
  )
  return (
    pickFromPlaylists(
      slot,
      { playlists, buckets: playlistRanks, mayRepeat: false },
      openSlotRandom(draft),
      []
    ) !== null
  )
}

/** Whether the playlist of a row still contains its track and plays it in the same way. */
export function isInPlaylist({ trackId, isInterrupt }: PlayOrRow, playlist: Playlist): boolean {
  const isListed = trackId !== null && findTrackIndex(playlist.tracks, trackId) >= 0
  return isListed && isPlayablePlaylist(playlist) && isInterrupt === isInterruptingPlaylist(playlist)
}

/** Whether a playlist could choose the track of its row for a slot, as if the queue were planned anew. */
function isRowEligible(
  row: PlayOrRow & { readonly batch: number | null },
  playlist: Playlist,
  slot: QueueSlot
): boolean {
  if (!isInPlaylist(row, playlist)) return false
  const { obstacle, window } = checkPlaylistDue(
    playlist,
    row.batch === null ? slot : ignoreRemovedOf(row, slot)
  )
  if (obstacle !== null) return false
  if (playlist.source === 'stream') return true
  if (playlist.options.has('merge')) {
    const batch = planNextBatch(playlist, slot)
    const isSingle = batch.indices.length === 1
    return (
      row.pass === batch.pass &&
      (row.batch === null) === isSingle &&
      isBatchIntact(row, playlist, slot, batch)
    )
  }
  if (row.batch !== null) return false
  if (airtimeMs(row.durationMs) > computeMaxAirtimeMs(playlist, slot, window)) return false
  return isInPool(row, playlist, slot, window)
}

/** Whether the rows of a batch match the playlist, in order, except for rows that an operator removed. */
function isBatchIntact(
  { playlistId, pass, trackId }: PlayOrRow,
  { tracks }: Playlist,
  slot: QueueSlot,
  batch: TrackBatch
): boolean {
  const isOfBatch = (play: RemovedRow) => play.playlistId === playlistId && play.pass === pass
  const followers = slot.rowsAfter.filter(each => isOfBatch(each) && each.trackId !== trackId)
  const queued = [trackId, ...followers.map(each => each.trackId)]
  const isQueued = new Set(queued)
  const expected = batch.indices.map(index => columnValueAt(tracks.ids, index))
  const missing = expected.length - isQueued.size
  const removed = slot.library.past.removed.filter(isOfBatch).length
  const order = expected.filter(id => isQueued.has(id))
  return missing >= 0 && missing <= removed && order.every((id, index) => id === queued[index])
}

/** Whether a track is in the pool of its pass, or is the next one of a sequential playlist. */
function isInPool(
  { trackId, pass }: PlayOrRow,
  playlist: Playlist,
  slot: QueueSlot,
  window: ScheduleWindow | null
): boolean {
  const index = findTrackIndex(playlist.tracks, trackId ?? 0)
  const pool = findTrackPools(playlist, slot, window, 0).find(each => (each.pass ?? pass) === pass)
  if (!pool) return false
  return playlist.order === 'sequential' ? firstTrackInPool(playlist, pool) === index : pool.includes(index)
}

/** Without the removed rows of a batch, so that they do not count as a play of the whole batch. */
function ignoreRemovedOf({ playlistId, pass }: PlayOrRow, slot: QueueSlot): QueueSlot {
  const { library } = slot
  const removed = library.past.removed.filter(each => each.playlistId !== playlistId || each.pass !== pass)
  return { ...slot, library: { ...library, past: { ...library.past, removed } } }
}

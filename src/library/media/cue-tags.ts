import { type CuePoints, fitCuePoints, maxAmplifyDb, roundDecibels } from '../../model/songs/cue-points.ts'
import { toDurationMs } from '../../model/songs/song.ts'
import type { TagTexts } from './tags/named-tags.ts'

/** R128 refers to -23 LUFS, ReplayGain to -18. */
const r128OffsetDb = 5

/**
 * Reads cue points, fades and gain from the tags of Liquidsoap (`liq_cue_in`, ...), else the gain from
 * ReplayGain, R128 or RVA2. Values that are malformed or do not fit the duration are ignored.
 */
export function parseCueTags(tags: TagTexts, durationMs: number): CuePoints {
  const find = (name: string) => tags.get(name)?.[0]?.trim()
  const findMs = (name: string) => parseSeconds(find(name))
  const cueOutMs = findMs('liq_cue_out')
  const crossMs = findMs('liq_cross_duration')
  const cues = {
    cueInMs: findMs('liq_cue_in'),
    cueOutMs,
    startNextMs:
      findMs('liq_cross_start_next') ?? (crossMs === null ? null : (cueOutMs ?? durationMs) - crossMs),
    fadeInMs: findMs('liq_fade_in'),
    fadeOutMs: findMs('liq_fade_out'),
    amplifyDb:
      parseAmplify(find('liq_amplify')) ??
      parseDecibels(find('replaygain_track_gain')) ??
      parseR128(find('r128_track_gain')) ??
      parseDecibels(find('rva2'))
  }
  return fitCuePoints(cues, durationMs)
}

function parseSeconds(text = ''): number | null {
  if (!/^\d{1,7}(\.\d{1,9})?$/.test(text)) return null
  return Number(text) === 0 ? 0 : toDurationMs(Number(text)) || null
}

/** Parses `-3.2 dB`, also without unit, and with the decimal comma that some programs write. */
function parseDecibels(text = ''): number | null {
  const [, digits] = /^([+-]?\d{1,3}(?:[.,]\d{1,9})?)(?: *dB)?$/i.exec(text) ?? []
  return digits === undefined ? null : limitGain(Number(digits.replace(',', '.')))
}

/** Parses `-3.2 dB`, or a factor like `0.7`. */
function parseAmplify(text = ''): number | null {
  const [factor = ''] = /^\d{1,4}([.,]\d{1,9})?$/.exec(text) ?? []
  if (factor === '') return /dB$/i.test(text) ? parseDecibels(text) : null
  const value = Number(factor.replace(',', '.'))
  return value > 0 ? limitGain(20 * Math.log10(value)) : null
}

/** Parses a fixed-point number of 256 steps a decibel. */
function parseR128(text = ''): number | null {
  return /^[+-]?\d{1,5}$/.test(text) ? limitGain(Number(text) / 256 + r128OffsetDb) : null
}

const limitGain = (decibels: number) => (Math.abs(decibels) <= maxAmplifyDb ? roundDecibels(decibels) : null)

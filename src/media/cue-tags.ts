import type { IAudioMetadata } from 'music-metadata'

import { type CuePoints, fitCuePoints, maxAmplifyDb, roundDecibels } from '../songs/cue-points.ts'
import { toDurationMs } from '../songs/song.ts'

/** R128 refers to -23 LUFS, ReplayGain to -18. */
const r128OffsetDb = 5

/**
 * Reads cue points, fades and gain from the tags of Liquidsoap (`liq_cue_in`, ...), else the gain from
 * ReplayGain or R128. Values that are malformed or do not fit the duration are ignored.
 */
export function readCueTags(native: IAudioMetadata['native'], durationMs: number): CuePoints {
  const tags = textsByName(native)
  const findMs = (name: string) => parseSeconds(tags.get(name))
  const cueOutMs = findMs('LIQ_CUE_OUT')
  const crossMs = findMs('LIQ_CROSS_DURATION')
  const cues = {
    cueInMs: findMs('LIQ_CUE_IN'),
    cueOutMs,
    startNextMs:
      findMs('LIQ_CROSS_START_NEXT') ?? (crossMs === null ? null : (cueOutMs ?? durationMs) - crossMs),
    fadeInMs: findMs('LIQ_FADE_IN'),
    fadeOutMs: findMs('LIQ_FADE_OUT'),
    amplifyDb:
      parseAmplify(tags.get('LIQ_AMPLIFY')) ??
      parseDecibels(tags.get('REPLAYGAIN_TRACK_GAIN')) ??
      parseR128(tags.get('R128_TRACK_GAIN'))
  }
  return fitCuePoints(cues, durationMs)
}

/** The first text of each tag by upper-case name: `TXXX:liq_cue_in` and `----:com.apple.iTunes:liq_cue_in` are one. */
function textsByName(native: IAudioMetadata['native']): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { id, value } of Object.values(native).flat()) {
    const name = (id.split(':').at(-1) ?? '').toUpperCase()
    if (typeof value === 'string' && !texts.has(name)) texts.set(name, value.trim())
  }
  return texts
}

function parseSeconds(text = ''): number | null {
  if (!/^\d{1,7}(\.\d{1,9})?$/.test(text)) return null
  return Number(text) === 0 ? 0 : toDurationMs(Number(text)) || null
}

/** Parses `-3.2 dB`. */
function parseDecibels(text = ''): number | null {
  const [, digits] = /^([+-]?\d{1,3}(?:\.\d{1,9})?) ?dB$/i.exec(text) ?? []
  return digits === undefined ? null : limitGain(Number(digits))
}

/** Parses `-3.2 dB`, or a factor like `0.7`. */
function parseAmplify(text = ''): number | null {
  const factor = /^\d{1,4}(\.\d{1,9})?$/.test(text) ? Number(text) : 0
  return parseDecibels(text) ?? (factor > 0 ? limitGain(20 * Math.log10(factor)) : null)
}

/** Parses a fixed-point number of 256 steps a decibel. */
function parseR128(text = ''): number | null {
  return /^[+-]?\d{1,5}$/.test(text) ? limitGain(Number(text) / 256 + r128OffsetDb) : null
}

const limitGain = (decibels: number) => (Math.abs(decibels) <= maxAmplifyDb ? roundDecibels(decibels) : null)

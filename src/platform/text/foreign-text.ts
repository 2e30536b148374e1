import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'

/**
 * Decodes text from outside, whose encoding is unknown or named wrongly. The first of these that fits wins: a
 * byte order mark (UTF-8, UTF-16, UTF-32), UTF-16 that is evident from its NULs, UTF-8, the named charset
 * (a label of the Encoding Standard or a usual alias; ignored if unknown), UTF-8 that was truncated within a
 * character, and windows-1252, whose undefined bytes become control characters, as in browsers. Never returns
 * U+FFFD: it says that text was lost elsewhere, and is removed.
 */
export function decodeForeignText(bytes: Uint8Array, charset: string | null = null): string {
  return withoutLostCharacters(decodeForeignTextAsSent(bytes, charset))
}

/** Matches what is never stored: NUL, lone surrogates, and U+FFFD, which replaces characters that were lost. */
export const unstorablePattern = /[\0\uFFFD\p{Surrogate}]/u

/** Removes U+FFFD, and lone surrogates, which would be encoded as U+FFFD. */
export function withoutLostCharacters(text: string): string {
  // Searching is many times as fast as the expression, which matters for documents of several megabytes.
  const isWhole = !text.includes('\uFFFD') && text.isWellFormed()
  return isWhole ? text : text.replace(/[\uFFFD\p{Surrogate}]/gu, '')
}

/** Like `decodeForeignText`, but keeps U+FFFD: names of files may contain it, and fields of requests refuse it. */
export function decodeForeignTextAsSent(bytes: Uint8Array, charset: string | null = null): string {
  const text = decodeUnicode(bytes, charset)
  if (text !== null) return text
  const named = charset === null ? null : findEncoding(charset)
  const rest = startsWith(bytes, utf8Mark) ? bytes.subarray(utf8Mark.length) : bytes
  const inNamed = named === null || named === 'utf-8' ? null : decodeIfValid(rest, named)
  return inNamed ?? decodeTruncatedUtf8(rest) ?? decodeWindows1252(rest)
}

/** The most parts of a document that are not UTF-8 and decoded one by one. */
const maxForeignParts = 1_000

/**
 * Decodes a document whose texts come from several sources, as a list of streams. If it is not valid as a
 * whole, each part that ends with one of the separators (ASCII characters) is decoded by itself, unless UTF-16 is
 * named. Keeps U+FFFD.
 */
export function decodeForeignDocument(
  bytes: Uint8Array,
  separators: string,
  charset: string | null = null
): string {
  const unmarked = findUnmarkedUtf16(bytes)
  const whole = unmarked === null ? decodeUnicode(bytes, charset) : new TextDecoder(unmarked).decode(bytes)
  if (whole !== null) return whole
  if (charset !== null && findEncoding(charset)?.startsWith('utf-16'))
    return decodeForeignTextAsSent(bytes, charset)
  const codes = Array.from(separators, separator => separator.charCodeAt(0))
  let foreignParts = 0
  const decodeRange = (range: Uint8Array): string => {
    if (isUtf8(range)) return utf8Decoder.decode(range)
    const middle = foreignParts < maxForeignParts ? findMiddle(range, codes) : 0
    if (middle > 0) return decodeRange(range.subarray(0, middle)) + decodeRange(range.subarray(middle))
    foreignParts += 1
    return decodeForeignTextAsSent(range, charset)
  }
  return decodeRange(bytes)
}

/** The index of the separator that is next to the middle, but not at the start; 0 if there is none. */
function findMiddle(range: Uint8Array, codes: readonly number[]): number {
  const middle = range.length >> 1
  if (middle === 0) return 0
  const next = Math.min(...codes.map(code => range.indexOf(code, middle)).filter(at => at > 0))
  return next < Infinity ? next : Math.max(0, ...codes.map(code => range.lastIndexOf(code, middle)))
}

/** Decodes a document as `decodeForeignText` does, line by line unless it is valid as a whole. */
export const decodeForeignLines = (bytes: Uint8Array, charset: string | null = null): string =>
  withoutLostCharacters(decodeForeignDocument(bytes, '\r\n', charset))

/** Whether text is in an encoding that has NUL bytes within characters: named, marked or evident UTF-16 or UTF-32. */
export const isWideEncoding = (bytes: Uint8Array, charset: string | null = null): boolean =>
  (charset !== null && findEncoding(charset)?.startsWith('utf-16') === true) ||
  marks.some(({ mark }) => startsWith(bytes, mark)) ||
  evidentUtf16(bytes, 4) !== null

/** What is decoded at once; more takes so long that others wait. */
const sliceBytes = 512 * 1024

/** Decodes a document as `decodeForeignLines` does, and yields to the event loop between slices. */
export async function decodeForeignLinesInSlices(
  bytes: Uint8Array,
  charset: string | null = null
): Promise<string> {
  // Decoded fast, and not at any byte.
  if (isWideEncoding(bytes, charset) || findUnmarkedUtf16(bytes) !== null)
    return decodeForeignLines(bytes, charset)
  const texts: string[] = []
  for (let start = 0; start < bytes.length;) {
    const lineEnd = bytes.indexOf(lineFeed, start + sliceBytes)
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1
    texts.push(decodeForeignLines(bytes.subarray(start, end), charset))
    start = end
    if (start < bytes.length) await setImmediate()
  }
  return texts.join('')
}

const lineFeed = 0x0a

/** Decodes UTF-8 and yields to the event loop between slices; null if it is not valid. Without a byte order mark. */
export async function decodeUtf8InSlices(bytes: Uint8Array): Promise<string | null> {
  if (!isUtf8(bytes)) return null
  const decoder = new TextDecoder()
  const texts: string[] = []
  for (let start = 0; start < bytes.length; start += sliceBytes) {
    if (start > 0) await setImmediate()
    texts.push(decoder.decode(bytes.subarray(start, start + sliceBytes), { stream: true }))
  }
  return texts.join('')
}

/** Decodes text in an encoding that shows: by a mark, or because other texts are not valid in it. Null if none is. */
function decodeUnicode(bytes: Uint8Array, charset: string | null): string | null {
  const marked = marks.find(({ mark }) => startsWith(bytes, mark))
  if (marked) return marked.decode(bytes.subarray(marked.mark.length))
  const named = charset === null ? null : findEncoding(charset)
  const evident = evidentUtf16(bytes, named?.startsWith('utf-16') ? 1 : 4)
  if (evident !== null) return new TextDecoder(evident).decode(bytes)

  const utf8 = decodeIfValid(bytes, 'utf-8')
  const isDisguised = encodesAsAsciiBytes(named) && utf8 !== null && hasControls(utf8)
  return named !== null && isDisguised ? (decodeIfValid(bytes, named) ?? utf8) : utf8
}

const startsWith = (bytes: Uint8Array, mark: readonly number[]) =>
  mark.every((byte, index) => bytes[index] === byte)

/** Decoders of UTF-8 remove it. Editors prepend it to text in other encodings, too. */
const utf8Mark = [0xef, 0xbb, 0xbf]

interface Mark {
  readonly mark: readonly number[]
  readonly decode: (rest: Uint8Array) => string
}

/** Those of UTF-32 come first, because one of them starts with one of UTF-16. */
const marks: readonly Mark[] = [
  { mark: [0xff, 0xfe, 0, 0], decode: rest => decodeUtf32(rest, true) },
  { mark: [0, 0, 0xfe, 0xff], decode: rest => decodeUtf32(rest, false) },
  { mark: [0xff, 0xfe], decode: rest => new TextDecoder('utf-16le').decode(rest) },
  { mark: [0xfe, 0xff], decode: rest => new TextDecoder('utf-16be').decode(rest) }
]

function decodeUtf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let text = ''
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittleEndian)
    if (code <= 0x10ffff) text += String.fromCodePoint(code)
  }
  return text
}

/** UTF-16 without a mark is evident if one byte of more than half of the pairs is NUL, and never the other one. */
function evidentUtf16(bytes: Uint8Array, minNuls: number): string | null {
  const found = bytes.length % 2 === 0 ? findByteOrder(bytes, minNuls) : null
  return found !== null && found.nuls * 4 > bytes.length ? found.encoding : null
}

/** How much of a document shows whether it is UTF-16. */
const startBytes = 32 * 1024

/**
 * Finds the encoding of a document in UTF-16 without a byte order mark by its start; null if it is in another one.
 * Documents in other encodings have no NULs, so a few are enough, as in one with Cyrillic names, if it decodes as text.
 */
export function findUnmarkedUtf16(bytes: Uint8Array): string | null {
  const start = bytes.subarray(0, startBytes)
  const found = findByteOrder(start, 4)
  if (found === null) return null
  try {
    const text = new TextDecoder(found.encoding, { fatal: true }).decode(start, { stream: true })
    return hasControls(text) ? null : found.encoding
  } catch {
    return null
  }
}

/** Which byte of pairs is sometimes NUL, if it is never the other one. */
function findByteOrder(bytes: Uint8Array, minNuls: number) {
  const first = bytes.indexOf(0)
  if (first < 0) return null
  let nuls = 0
  for (let at = first; at < bytes.length; at += 1) {
    if (bytes[at] !== 0) continue
    if ((at - first) % 2 !== 0) return null
    nuls += 1
  }
  return nuls < minNuls ? null : { encoding: first % 2 === 0 ? 'utf-16be' : 'utf-16le', nuls }
}

/** Whether a text contains control characters other than tabs and line breaks. */
const hasControls = (text: string) => /[^\P{Cc}\t\r\n]/u.test(text)

const utf8Decoder = new TextDecoder('utf-8', { fatal: true })

/** Decodes text that fits an encoding of the Encoding Standard; null if it does not. */
function decodeIfValid(bytes: Uint8Array, encoding: string): string | null {
  if (encoding === 'windows-1252') return decodeWindows1252(bytes)
  // Errors are slow.
  if (encoding === 'utf-8' && !isUtf8(bytes)) return null
  try {
    const decoder = encoding === 'utf-8' ? utf8Decoder : new TextDecoder(encoding, { fatal: true })
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

/** Sources truncate titles at a number of bytes. Requires a whole character that is not ASCII before the end. */
function decodeTruncatedUtf8(bytes: Uint8Array): string | null {
  if (!bytes.subarray(-3).some(byte => byte >= 0xc0)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return /[^\p{ASCII}]/u.test(text) ? text : null
  } catch {
    return null
  }
}

const windows1252Decoder = new TextDecoder('windows-1252')

/** Node 20 decodes windows-1252 as Latin-1, in which 0x80 to 0x9F are control characters. */
export function decodeWindows1252(bytes: Uint8Array): string {
  const text = windows1252Decoder.decode(bytes)
  return text.replace(/[\u0080-\u009F]/g, char => windows1252[char.charCodeAt(0) - 0x80] ?? char)
}

/** 0x80 to 0x9F. */
const windows1252 =
  '\u20AC\u0081\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\u008D\u017D\u008F' +
  '\u0090\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\u009D\u017E\u0178'

/** The charset in a content type, or in the declaration of an XML document; null if there is none. */
export const findCharset = (text: string): string | null =>
  /\b(?:charset|encoding)\s*=\s*["']?([^\s;"'?]+)/i.exec(text)?.[1] ?? null

/** The encoding of a label, also of one in a usual spelling like `ISO8859_2` or `cp1251`; null if it is unknown. */
export function findEncoding(label: string): string | null {
  if (label !== lastLabel) {
    lastEncoding = label.length > maxLabelLength ? null : resolveLabel(label)
    lastLabel = label
  }
  return lastEncoding
}

const maxLabelLength = 40
/** All texts of a document or form name the same one. */
let lastLabel = ''
let lastEncoding: string | null = null

function resolveLabel(label: string): string | null {
  const bare = label.toLowerCase().replace(/[^a-z0-9]/g, '')
  const page = /^(?:cp|ms|windows|xcp|ibm)(\d+)$/.exec(bare)?.[1] ?? ''
  const spellings = [
    label,
    bare,
    bare.replace(/^iso8859/, 'iso-8859-').replace(/^(utf|koi8|euc|shift|windows)/, '$1-'),
    codePages[page] ?? `windows-${page}`,
    page
  ]
  return spellings.map(encodingOf).find(encoding => encoding !== null) ?? null
}

/** Code pages of Windows that the Encoding Standard knows by another name. */
const codePages: Readonly<Record<string, string>> = {
  '932': 'shift_jis',
  '936': 'gbk',
  '949': 'euc-kr',
  '950': 'big5',
  '20866': 'koi8-r',
  '28591': 'iso-8859-1',
  '28592': 'iso-8859-2',
  '65001': 'utf-8'
}

function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** Whether an encoding writes characters as ASCII bytes, with control characters among them. */
export const encodesAsAsciiBytes = (encoding: string | null): boolean =>
  /^(utf-16|iso-2022)/.test(encoding ?? '')

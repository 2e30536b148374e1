import { decodeForeignText } from '../../../platform/text/foreign-text.ts'
import type { FileTokenizer } from '../file-tokenizer.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import { maxNativeTags, maxTagTextBytes, type NativeTag } from '../tags/native-tags.ts'

const maxAtoms = 10_000
/** The bytes of `meta` before its atoms. */
const metaHeader = 4
/** Kinds of values: text whose encoding the atom implies, and UTF-8. */
const textKinds = [0, 1]

interface Atom {
  readonly name: string
  readonly start: number
  readonly end: number
}

/**
 * Reads the texts of the list of tags of an MP4 file, in any encoding: some programs write other text than the UTF-8
 * that the format requires. Ids are those of `music-metadata`.
 */
export async function readMp4Texts(file: FileTokenizer, start: number): Promise<NativeTag[]> {
  let at: Atom | undefined = { name: '', start, end: file.size }
  for (const name of ['moov', 'udta', 'meta', 'ilst']) {
    at = (await atomsIn(file, at)).find(atom => atom.name === name)
    if (at === undefined) return []
    if (name === 'meta') at = { ...at, start: at.start + metaHeader }
  }
  const tags: NativeTag[] = []
  for (const item of await atomsIn(file, at)) {
    if (tags.length >= maxNativeTags) break
    const parts = await atomsIn(file, item)
    const words: string[] = []
    for (const part of parts.filter(({ name }) => name === 'mean' || name === 'name'))
      words.push(decodeForeignText(await read(file, { ...part, start: part.start + 4 })))
    const id = item.name === '----' ? ['----', ...words].join(':') : item.name
    for (const part of parts.filter(({ name }) => name === 'data')) {
      const value = await read(file, part)
      if (value.length > 8 && textKinds.includes(value.readUInt32BE(0)))
        tags.push({ id, text: decodeForeignText(value.subarray(8)) })
    }
  }
  return tags
}

const read = (file: FileTokenizer, { start, end }: Atom) =>
  file.readAt(start, Math.min(Math.max(0, end - start), maxTagTextBytes))

async function atomsIn(file: FileTokenizer, { start, end }: Atom): Promise<Atom[]> {
  const atoms: Atom[] = []
  for (let at = start; at + 8 <= end && atoms.length < maxAtoms;) {
    const header = await file.readAt(at, 16)
    if (header.length < 8) break
    const size = header.readUInt32BE(0)
    const isLarge = size === 1 && header.length === 16
    const length = isLarge ? Number(header.readBigUInt64BE(8)) : size === 0 ? end - at : size
    const content = at + (isLarge ? 16 : 8)
    if (at + length < content) break
    atoms.push({ name: decodeLatin1(header.subarray(4, 8)), start: content, end: Math.min(at + length, end) })
    at += length
  }
  return atoms
}

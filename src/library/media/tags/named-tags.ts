import { cleanLines } from '../../../model/songs/song.ts'
import type { TagBlock } from './native-tags.ts'
import { isFreeTag, tagAliases, canonicalTagName, tagSynonyms } from './tag-names.ts'

const maxTags = 200
const maxValues = 50
/** In code points. */
const maxValueLength = 8_000

/** The texts of a file by the name of their tag; see `canonicalTagName`. */
export type TagTexts = ReadonlyMap<string, readonly string[]>

/** Collects the texts of one kind of tags. Texts under free names only count if the format's own tag is missing. */
export function collectTagTexts({ tags }: Pick<TagBlock, 'tags'>): TagTexts {
  const texts = new Map<string, string[]>()
  const fixed = tags.filter(({ id }) => !isFreeTag(id))
  add(fixed)
  const names = new Set(texts.keys())
  add(tags.filter(({ id }) => isFreeTag(id) && !names.has(canonicalTagName(id))))
  return texts

  function add(some: TagBlock['tags']): void {
    for (const { id, text } of some) {
      const name = canonicalTagName(id)
      const known = texts.get(name)
      if (text.trim() === '' || (known ? known.length === maxValues : texts.size === maxTags)) continue
      if (known) known.push(text)
      else texts.set(name, [text])
    }
  }
}

/** Merges the texts of several blocks: each tag is that of the first block that has it. */
export function mergeTagTexts(blocks: readonly TagTexts[]): TagTexts {
  const merged = new Map<string, readonly string[]>()
  for (const [name, texts] of blocks.flatMap(block => [...block]))
    if (!merged.has(name) && merged.size < maxTags) merged.set(name, texts)
  return merged
}

/**
 * All texts of a file by the name of their tag, in lower case: `album_artist`, `bpm`, `composer`, `year` and so on,
 * whatever the format calls them, and by the names of formats, such as `tbpm`; other tags by their own name. Several
 * values of a tag are joined with `; `. At most 200 tags of at most 8,000 code points.
 */
export function toNamedTags(texts: TagTexts): ReadonlyMap<string, string> {
  const tags = new Map<string, string>()
  for (const [name, values] of texts) tags.set(name, cleanLines(values.join('; '), maxValueLength))
  for (const [name, other] of tagSynonyms) {
    const value = tags.get(other)
    if (value !== undefined && !tags.has(name) && tags.size < maxTags) tags.set(name, value)
  }
  for (const [alias, name] of tagAliases) {
    const value = tags.get(name)
    if (value !== undefined && !tags.has(alias)) tags.set(alias, value)
  }
  return tags
}

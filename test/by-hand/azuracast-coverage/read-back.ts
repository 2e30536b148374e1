import type { Json } from './document.ts'

/** Keys that are never returned, or that the server sets. */
const notRead =
  /password|secret|private|_pw$|^(id|links|verifier|file|user|s3CredentialKey|listeners_(unique|total)|created_at|updated_at|art_updated_at|is_me|stations|uri|isFull|storage(Used|Available).*|storageQuotaBytes|is_editable|is_super_admin|metadata|mtime|uploaded_at|length|length_text|song_id|unique_id|text|art)$/i

/** Describes the keys of a record that differ from what was sent; empty if all were stored. */
export function findDifferences(sent: Json, read: Json, at = ''): string[] {
  if (sent === null || typeof sent !== 'object') return isSame(sent, read) ? [] : [describe(at, sent, read)]
  if (Array.isArray(sent)) {
    // AzuraCast renders no options as one that is empty.
    const list: Json[] = Array.isArray(read) ? read.filter(each => each !== '') : []
    if (!Array.isArray(read) || list.length !== sent.length) return [describe(at, sent, read)]
    return sent.flatMap((each, index) =>
      findDifferences(each, elementFor(each, list, index), `${at}.${index}`)
    )
  }
  if (read === null || typeof read !== 'object') return [describe(at, sent, read)]
  return Object.entries(sent)
    .filter(([key, value]) => !notRead.test(key) && value !== undefined)
    .flatMap(([key, value]) => findDifferences(value, read[key], at === '' ? key : `${at}.${key}`))
}

/** An id that was sent for a record may be returned as the record, and lists of names in another order. */
function elementFor(sent: Json, read: readonly Json[], index: number): Json {
  if (typeof sent === 'string' && read.includes(sent)) return sent
  const named = read.find(each => each?.id !== undefined && String(each.id) === String(sent?.id ?? sent))
  return typeof sent === 'object' ? (named ?? read[index]) : (named?.id ?? read[index])
}

function isSame(sent: Json, read: Json): boolean {
  if (sent === read) return true
  if (isUnset(sent) && isUnset(read)) return true
  return sent !== null && read !== null && typeof read !== 'object' && String(sent) === String(read)
}

const isUnset = (value: Json) => value === null || value === undefined || value === '' || value === 0

const describe = (at: string, sent: Json, read: Json) => `${at}: sent ${shorten(sent)}, read ${shorten(read)}`

function shorten(value: Json): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

import { unicodeNameKey } from '../../../platform/text/unicode-names.ts'
import { maxCsvCellCharacters } from './csv-reader.ts'

/** A playlist of a station, as the cells of a CSV file name it. */
export interface TablePlaylist {
  readonly id: number
  readonly name: string
  /** Whether songs can be added to it. */
  readonly takesSongs: boolean
}

export interface PlaylistCellFormat {
  /** Whether names are separated with commas instead of semicolons. */
  readonly usesCommas: boolean
}

/** The playlists that a cell names, and sentences about those that it does not name clearly. */
interface ParsedPlaylists {
  readonly ids: readonly number[]
  readonly problems: readonly string[]
}

/** More would be refused by the write. */
const maxNames = 500

/**
 * Cells with the playlists of a song. A name that occurs twice, contains a separator or looks like one with an id is
 * written with the id of its playlist at the end, and with bars instead of separators: `Rock | Pop #12`. So a cell that
 * is read back names the same playlists, whatever they are called.
 */
export function openPlaylistCells(playlists: readonly TablePlaylist[], { usesCommas }: PlaylistCellFormat) {
  const named = new Map<string, TablePlaylist[]>()
  for (const playlist of playlists) {
    const key = keyOf(playlist.name)
    named.set(key, [...(named.get(key) ?? []), playlist])
  }
  const labels = new Map(
    playlists.map(({ id, name }) => [id, renderLabel(id, name, named.get(keyOf(name))?.length ?? 0)])
  )
  const order = new Map(
    playlists
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id))
      .map(({ id }, index) => [id, index])
  )
  const names = new Map(playlists.map(({ id, name }) => [id, name]))
  const byLabel = new Map([...labels].map(([id, label]) => [keyOf(label), id]))
  const sort = (ids: readonly number[]) =>
    ids.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0) || a - b)
  const labelOf = (id: number) => labels.get(id) ?? `#${id}`
  const render = (ids: readonly number[]) =>
    sort(ids)
      .map(labelOf)
      .join(usesCommas ? ', ' : '; ')

  /** Parses a cell of a song that is in the playlists `current`. */
  function parse(cell: string, current: readonly number[]): ParsedPlaylists {
    // As releases before ids in names wrote it, and AzuraCast does.
    const plain = sort(current).map(id => names.get(id) ?? '')
    const isUnchanged = cell === render(current) || [', ', '; '].some(each => cell === plain.join(each))
    if (isUnchanged) return { ids: current, problems: [] }
    if (cell.length > maxCsvCellCharacters)
      return { ids: current, problems: [`must have at most ${maxCsvCellCharacters} characters.`] }
    const parts = cell
      .split(usesCommas && !cell.includes(';') ? ',' : ';')
      .map(normalize)
      .filter(part => part !== '')
    if (parts.length > maxNames)
      return { ids: current, problems: [`must have at most ${maxNames} playlists.`] }
    const problems: string[] = []
    const ids = new Set<number>()
    for (const part of new Set(parts)) {
      const found = find(part, parts.filter(each => each === part).length, current)
      if (typeof found === 'string') problems.push(found)
      else for (const id of found) ids.add(id)
    }
    return { ids: [...ids], problems }
  }

  /** Returns the playlists that a name with or without an id means, or a sentence. */
  function find(part: string, mentions: number, current: readonly number[]): readonly number[] | string {
    const labelled = byLabel.get(keyOf(part))
    if (labelled !== undefined) return [labelled]
    const candidates = named.get(keyOf(part)) ?? []
    const own = candidates.filter(({ id }) => current.includes(id))
    if (own.length > 0 && own.length === mentions) return own.map(({ id }) => id)
    const open = candidates.filter(({ takesSongs }) => takesSongs)
    if (open.length === 1) return open.map(({ id }) => id)
    if (open.length === 0) return `"${part.slice(0, 200)}" is not a playlist of songs.`
    const choices = open.slice(0, 5).map(({ id }) => `"${labelOf(id)}"`)
    return `"${part.slice(0, 200)}" names ${open.length} playlists: write ${choices.join(' or ')}.`
  }

  return { render, parse, labelOf }
}

export type PlaylistCells = ReturnType<typeof openPlaylistCells>

/** Spreadsheets and forms trim names, and split them at line breaks. */
const normalize = (name: string) => name.replace(/\s+/g, ' ').trim()

/** By which names are compared. */
const keyOf = (name: string) => unicodeNameKey(normalize(name))

function renderLabel(id: number, name: string, count: number): string {
  const plain = normalize(name)
  // A spreadsheet would turn a number into one that another playlist may be named after.
  const isNumeric = /^\P{L}*\d\P{L}*$/u.test(name)
  const isPlain =
    count === 1 && plain === name && plain !== '' && !isNumeric && !/[;,]|^#\d+$| #\d+$/.test(name)
  return isPlain ? name : `${plain.replace(/ ?[;,] ?/g, ' | ').trim()} #${id}`.trim()
}

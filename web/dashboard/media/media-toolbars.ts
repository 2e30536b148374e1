import { html, nothing } from 'lit'

import type { FileRow, Playlist } from '../api/responses.ts'
import { buttonView } from '../ui/controls.ts'
import { formatNumber, isolateBidi } from '../ui/text.ts'
import type { LibraryQuery } from './library-query.ts'
import { rowNameOf, listFolderTrail } from './library-row.ts'
import type { MediaSelection } from './selection.ts'

interface ToolbarOptions {
  readonly folder: string
  readonly canManage: boolean
  /** Returns the address of a folder. */
  readonly linkTo: (folder: string) => string
  readonly onCreateFolder: () => unknown
}

/** The folders on the way to the one that is shown. */
export const folderToolbar = ({ folder, canManage, linkTo, onCreateFolder }: ToolbarOptions) =>
  html`<header class="panel-head">
    <nav aria-label="Folders">
      <ol class="breadcrumb">
        ${[{ name: 'All files', path: '' }, ...listFolderTrail(folder)].map(
          ({ name, path }) =>
            html`<li>
              ${
                path === folder
                  ? html`<span aria-current="location" dir="auto">${name}</span>`
                  : html`<a href=${linkTo(path)} dir="auto">${name}</a>`
              }
            </li>`
        )}
      </ol>
    </nav>
    ${canManage ? buttonView('New folder', onCreateFolder, { style: 'link' }) : nothing}
  </header>`

interface FiltersOptions {
  readonly query: LibraryQuery
  readonly playlists: readonly Playlist[]
  readonly onSearch: (event: Event) => void
  readonly onChange: (changes: Partial<LibraryQuery>) => void
}

/** What the list shows of the files. */
export const mediaFiltersView = ({
  query: { filter, isFlat },
  playlists,
  onSearch,
  onChange
}: FiltersOptions) =>
  html`<div class="media-filters">
    <input
      class="field"
      type="search"
      aria-label="Search"
      placeholder="Search"
      autocomplete="off"
      spellcheck="false"
      @input=${onSearch}
    />
    <select
      class="field"
      aria-label="Filter"
      @change=${({ target }: Event) => {
        if (target instanceof HTMLSelectElement) onChange({ filter: target.value })
      }}
    >
      <option value="" ?selected=${filter === ''}>All files</option>
      <option value="no-playlist" ?selected=${filter === 'no-playlist'}>In no playlist</option>
      <option value="no-cover" ?selected=${filter === 'no-cover'}>Without a cover</option>
      ${playlists.map(({ id, name }) => {
        const value = String(id)
        return html`<option value=${value} ?selected=${filter === value}>In “${name}”</option>`
      })}
    </select>
    <label class="choice"
      ><input type="checkbox" .checked=${isFlat} @change=${() => onChange({ isFlat: !isFlat })} /> Files of
      all folders</label
    >
  </div>`

/** `3 of 50,000 selected` */
export const describeSelection = ({ keys }: MediaSelection, name: string): string =>
  keys.size === 1 && name !== '' ? `“${isolateBidi(name)}”` : `${formatNumber(keys.size)} selected`

/** An action on the selection: its label, and what a click does. */
export type SelectionAction = readonly [text: string, onClick: () => unknown]

interface SelectionOptions {
  readonly selection: MediaSelection
  /** The only selected row; null if there is none or several. */
  readonly only: FileRow | null
  /** The progress of an action on many files; '' without one. */
  readonly progress: string
  readonly isBusy: boolean
  readonly actions: readonly SelectionAction[]
}

/** What is selected and what can be done with it. */
export function selectionToolbar({ selection, only, progress, isBusy, actions }: SelectionOptions) {
  if (selection.keys.size === 0)
    return html`<p class="quiet media-help media-help-keys">
        Space selects, Shift and the arrow keys extend, Ctrl+A selects all, Enter opens, P plays.
      </p>
      <p class="quiet media-help media-help-touch">Check the boxes to select several files.</p>`
  return html`<div class="media-selection" role="toolbar" aria-label="Selection">
    <p role="status">
      ${describeSelection(selection, only === null ? '' : rowNameOf(only))}
      ${progress === '' ? nothing : html`(${progress})`}
    </p>
    ${actions.map(([text, onClick]) => buttonView(text, onClick, { style: 'link', isDisabled: isBusy }))}
  </div>`
}

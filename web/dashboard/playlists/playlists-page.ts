import { html } from 'lit'

import { addPageStyles, defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { PlaylistFolders } from './playlist-folders.ts'
import { PlaylistForm } from './playlist-form.ts'
import { PlaylistList } from './playlist-list.ts'
import { PlaylistSongs } from './playlist-songs.ts'

import styles from './playlists.css' with { type: 'text' }

/** The playlists of a station. */
class PlaylistsPage extends StationPage {
  protected override render() {
    return html`<playlist-list
      .station=${this.station}
      .item=${this.item}
      .canManage=${this.permissions.allows('manageMedia')}
    ></playlist-list>`
  }
}

addPageStyles(styles)
defineElements({
  'playlist-folders': PlaylistFolders,
  'playlist-form': PlaylistForm,
  'playlist-songs': PlaylistSongs,
  'playlist-list': PlaylistList,
  'playlists-page': PlaylistsPage
})

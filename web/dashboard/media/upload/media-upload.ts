import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { showNotice, showErrorNotice } from '../../ui/actions.ts'
import { buttonView } from '../../ui/controls.ts'
import { addPageStyles, LightElement, reactiveProperties } from '../../ui/light-element.ts'
import { formatCount, isolateBidi } from '../../ui/text.ts'
import { formatBytes } from '../size-text.ts'
import { isLeftOut } from './left-out-files.ts'
import { readDroppedFiles, listPickedFiles } from './picked-files.ts'
import { getStationUploads, uploadsChangedEvent } from './station-uploads.ts'
import {
  mayResume,
  type PickedFile,
  summarizeUploads,
  type UploadItem,
  type UploadQueue
} from './upload-queue.ts'

import styles from './upload.css' with { type: 'text' }

addPageStyles(styles)

/** Dispatched after files were uploaded; bubbles. */
const uploadedEvent = 'cuewire-uploaded'

const maxShown = 100
const uploadedDelayMs = 1_000
const namesShown = 5

const stateTexts: Readonly<Record<UploadItem['state'], string>> = {
  waiting: 'Waiting',
  uploading: 'Uploading',
  paused: 'Paused',
  retrying: 'Trying again',
  done: 'Done',
  failed: 'Failed'
}
/** Files that need attention come first. */
const stateOrder = Object.fromEntries(
  ['failed', 'uploading', 'retrying', 'paused', 'waiting', 'done'].map((state, index) => [state, index])
)

/** Uploads files and folders to the media of a station: by dialogs, or dropped on it. */
export class MediaUpload extends LightElement {
  static override properties = reactiveProperties<MediaUpload>('station', 'folder', 'isDraggedOver')
  declare station: string
  /** The folder that gets the files; '' is the top. */
  folder = ''
  isDraggedOver = false
  #doneCount = 0
  #isUpdating = false
  #timer: ReturnType<typeof setTimeout> | undefined

  override connectedCallback(): void {
    super.connectedCallback()
    document.addEventListener(uploadsChangedEvent, this.#onChange)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    document.removeEventListener(uploadsChangedEvent, this.#onChange)
    clearTimeout(this.#timer)
  }

  get #queue(): UploadQueue {
    return getStationUploads(this.station)
  }

  /** Uploads what was dropped on the page. */
  async drop(transfer: DataTransfer): Promise<void> {
    try {
      this.#add(await readDroppedFiles(transfer))
    } catch {
      showNotice(this, { text: 'The dropped files could not be read.', isError: true })
    }
  }

  protected override render() {
    const { items } = this.#queue
    return html`<section
      class="uploads"
      aria-label="Uploads"
      ?data-dragged-over=${this.isDraggedOver}
      @dragover=${this.#onDragOver}
      @dragleave=${() => (this.isDraggedOver = false)}
      @drop=${this.#onDrop}
    >
      <div class="upload-pick">
        <p>Drop files or folders here, or choose</p>
        ${this.#inputView('files', false)} ${this.#inputView('a folder', true)}
      </div>
      ${items.length === 0 ? nothing : this.#queueView(items)}
    </section>`
  }

  #inputView(label: string, isFolder: boolean) {
    return html`<label class="button upload-button"
      >${label}<input
        class="visually-hidden"
        type="file"
        multiple
        ?webkitdirectory=${isFolder}
        accept=${isFolder ? nothing : 'audio/*,.flac,.opus,.ogg,.m4a,.aac,.mp3,.wav'}
        @change=${this.#onPick}
    /></label>`
  }

  #queueView(items: readonly UploadItem[]) {
    const summary = summarizeUploads(items)
    const { total, done, failed, paused, resumable, open, bytes, sentBytes } = summary
    const queue = this.#queue
    const shown = items
      .toSorted((one, other) => (stateOrder[one.state] ?? 0) - (stateOrder[other.state] ?? 0))
      .slice(0, maxShown)
    return html`<div class="upload-summary">
        <p role="status">
          ${formatCount(done, 'file')} of ${total}
          uploaded${failed > 0 ? `, ${failed} failed` : ''}${paused > 0 ? `, ${paused} paused` : ''}
        </p>
        <progress max=${Math.max(1, bytes)} .value=${sentBytes} aria-label="All uploads"></progress>
        <span class="quiet">${formatBytes(sentBytes)} of ${formatBytes(bytes)}</span>
        <span class="button-row">
          ${open > 0 ? buttonView('Pause all', queue.pauseAll, { style: 'link' }) : nothing}
          ${
            resumable > 0
              ? buttonView(paused > 0 ? 'Resume all' : 'Retry all', queue.resumeAll, { style: 'link' })
              : nothing
          }
          ${done > 0 ? buttonView('Clear finished', () => queue.clearDone(), { style: 'link' }) : nothing}
        </span>
      </div>
      <ul class="upload-list">
        ${repeat(
          shown,
          ({ id }) => id,
          item => this.#itemView(item)
        )}
      </ul>
      ${total > maxShown ? html`<p class="quiet">and ${total - maxShown} more</p>` : nothing}`
  }

  #itemView(item: UploadItem) {
    const { id, path, file, state, sentBytes, message, isTaken } = item
    const queue = this.#queue
    const name = isolateBidi(path)
    const isRunning = state === 'waiting' || state === 'uploading' || state === 'retrying'
    return html`<li class="upload-row" data-state=${state}>
      <span class="upload-name" dir="auto" title=${path}>${path}</span>
      ${
        // All of it may have been sent before the server refused it.
        state === 'failed'
          ? html`<span></span>`
          : html`<progress
              max=${Math.max(1, file.size)}
              .value=${sentBytes}
              aria-label=${`Progress of ${name}`}
            ></progress>`
      }
      <span class="upload-state">
        ${stateTexts[state]}${state === 'uploading' ? ` ${percentOf(sentBytes, file.size)}` : ''}
      </span>
      <span class="button-row">
        ${isRunning ? buttonView('Pause', () => queue.pause(id), { style: 'link', label: `Pause ${name}` }) : nothing}
        ${
          isTaken
            ? buttonView('Replace', () => queue.replace(id), { style: 'link', label: `Replace ${name}` })
            : nothing
        }
        ${
          mayResume(item)
            ? buttonView(state === 'paused' ? 'Resume' : 'Retry', () => queue.resume(id), {
                style: 'link',
                label: `${state === 'paused' ? 'Resume' : 'Retry'} ${name}`
              })
            : nothing
        }
        ${
          state === 'done'
            ? nothing
            : buttonView('×', () => this.#cancel(id), { style: 'icon-button', label: `Cancel ${name}` })
        }
      </span>
      ${message === '' ? nothing : html`<p class="trouble">${message}</p>`}
    </li>`
  }

  #cancel(id: number): Promise<void> {
    return this.#queue.cancel(id).catch((error: unknown) => showErrorNotice(this, error))
  }

  readonly #onPick = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement)) return
    this.#add(listPickedFiles(target.files ?? []))
    target.value = ''
  }

  readonly #onDragOver = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return
    event.preventDefault()
    this.isDraggedOver = true
  }

  readonly #onDrop = (event: DragEvent) => {
    event.preventDefault()
    event.stopPropagation()
    this.isDraggedOver = false
    if (event.dataTransfer !== null) void this.drop(event.dataTransfer)
  }

  #add(picked: readonly PickedFile[]): void {
    const others = picked.filter(isLeftOut)
    const empty = picked.filter(each => !isLeftOut(each) && each.file.size === 0)
    const music = picked.filter(each => !isLeftOut(each) && each.file.size > 0)
    const prefix = this.folder === '' ? '' : `${this.folder}/`
    const repeated = this.#queue.add(music.map(({ file, path }) => ({ file, path: prefix + path })))
    this.#notifyLeftOut('not audio', others)
    this.#notifyLeftOut('empty', empty)
    this.#notifyLeftOut('in the queue already', repeated)
    if (picked.length === 0) showNotice(this, { text: 'There are no files to upload.', isError: true })
  }

  #notifyLeftOut(reason: string, files: readonly PickedFile[]): void {
    if (files.length === 0) return
    const names = files.slice(0, namesShown).map(({ path }) => isolateBidi(path))
    const more = files.length > namesShown ? `, and ${files.length - namesShown} more` : ''
    const text = `${formatCount(files.length, 'file')} left out (${reason}): ${names.join(', ')}${more}`
    showNotice(this, { text, isError: false })
  }

  readonly #onChange = ({ detail: station }: CustomEvent<string>) => {
    if (station !== this.station) return
    const { done } = summarizeUploads(this.#queue.items)
    if (done > this.#doneCount) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(
        () => this.dispatchEvent(new Event(uploadedEvent, { bubbles: true })),
        uploadedDelayMs
      )
    }
    this.#doneCount = done
    // Progress of several files arrives more often than the screen shows it.
    if (this.#isUpdating) return
    this.#isUpdating = true
    setTimeout(() => {
      this.#isUpdating = false
      this.requestUpdate()
    }, 100)
  }
}

const percentOf = (part: number, whole: number) => `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`

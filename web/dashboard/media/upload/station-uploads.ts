import { serverBaseUrl, sessionResumedEvent } from '../../api/call-api.ts'
import { discardUpload, uploadFile } from './tus-upload.ts'
import { openUploadAddresses } from './upload-addresses.ts'
import { mayResume, openUploadQueue, type PickedFile, type UploadQueue } from './upload-queue.ts'
import { sendByXhr } from './xhr-request.ts'

/** Dispatched on the document when uploads of a station changed; `detail` is the station. */
export const uploadsChangedEvent = 'cuewire-uploads-changed'

declare global {
  interface DocumentEventMap {
    [uploadsChangedEvent]: CustomEvent<string>
  }
}

/** The queues of this page. They go on while other views are shown. */
const queues = new Map<string, UploadQueue>()

/** Returns the queue of a station, by its id or short name. */
export function getStationUploads(station: string): UploadQueue {
  const known = queues.get(station)
  if (known !== undefined) return known
  const endpoint = new URL(`api/station/${encodeURIComponent(station)}/files/uploads`, serverBaseUrl).href
  const addresses = openUploadAddresses(localStorage)
  const fingerprintOf = ({ file, path }: PickedFile) =>
    [station, path, file.size, file.lastModified].join('|')
  const queue = openUploadQueue({
    upload: (picked, onProgress, signal) =>
      uploadFile(picked.file, {
        endpoint,
        metadata: { path: picked.path, overwrite: String(picked.mayReplace === true) },
        fingerprint: fingerprintOf(picked),
        send: sendByXhr,
        addresses,
        onProgress,
        signal
      }),
    discard: picked => discardUpload({ fingerprint: fingerprintOf(picked), send: sendByXhr, addresses }),
    onChange: () => document.dispatchEvent(new CustomEvent(uploadsChangedEvent, { detail: station }))
  })
  queues.set(station, queue)
  return queue
}

addEventListener('beforeunload', event => {
  if (Array.from(queues.values()).some(({ isActive }) => isActive)) event.preventDefault()
})

addEventListener('online', () => {
  for (const queue of queues.values())
    for (const { id, state } of queue.items) if (state === 'retrying') queue.resume(id)
})

document.addEventListener(sessionResumedEvent, () => {
  for (const queue of queues.values())
    for (const item of queue.items) if (item.state === 'failed' && mayResume(item)) queue.resume(item.id)
})

import type { PickedFile } from './upload-queue.ts'

/** Files of folders that operators drop together with music. */
const leftOutNames =
  /^\.|\.(?:bmp|cue|db|doc|exe|gif|html?|ini|jpe?g|log|m3u8?|nfo|pdf|pls|png|sfv|txt|url|webp|xml|zip)$/i
const leftOutTypes = /^(?:image|text|font)\//

/** Whether a file is obviously not audio. The server decides about the others. */
export const isLeftOut = ({ file }: PickedFile): boolean =>
  leftOutNames.test(file.name) || leftOutTypes.test(file.type)

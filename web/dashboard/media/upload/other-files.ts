import type { PickedFile } from './upload-queue.ts'

/** Files of folders that operators drop together with music. */
const otherNames =
  /^\.|\.(?:bmp|cue|db|doc|exe|gif|html?|ini|jpe?g|log|m3u8?|nfo|pdf|pls|png|sfv|txt|url|webp|xml|zip)$/i
const otherTypes = /^(?:image|text|font)\//

/** Whether a file is obviously not audio. The server decides about the others. */
export const isOther = ({ file }: PickedFile): boolean =>
  otherNames.test(file.name) || otherTypes.test(file.type)

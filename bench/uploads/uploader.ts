import { uploadAll, type UploadRun } from './tus-client.ts'

/** The process that uploads: `uploader.ts RUN`, with a run as JSON. Sends its parent the result. */
const run: UploadRun = JSON.parse(process.argv[2] ?? '')
process.send?.(await uploadAll(run), () => process.exit())

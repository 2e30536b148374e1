import { startS3 } from '../../test/support/s3.ts'

/** The process of a bucket. Sends its parent the settings of the bucket, and ends with it. */
const server = await startS3()
const stop = async () => {
  await server[Symbol.asyncDispose]()
  process.exit()
}
process.on('disconnect', () => void stop())
process.send?.(server.settings)

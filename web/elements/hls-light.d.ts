/** The build without subtitles, protected streams and alternative tracks. */
declare module 'hls.js/light' {
  export { default, Events } from 'hls.js'
}

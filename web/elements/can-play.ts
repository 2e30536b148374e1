/** Whether this browser says that it may play a type. */
export function canPlay(type: string): boolean {
  return document.createElement('audio').canPlayType(type) !== ''
}

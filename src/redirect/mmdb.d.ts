/** A file packed into the executable; the import is its path. */
declare module "*.mmdb" {
  const path: string;
  export default path;
}

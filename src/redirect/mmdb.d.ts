/** A file that is packed into the executable; what is imported is its path. */
declare module "*.mmdb" {
  const path: string;
  export default path;
}
